// SPDX-License-Identifier: Apache-2.0
#include "programs/command/cuda_driver.hpp"

#include <dlfcn.h>

namespace penstock::cli {

std::string no_driver_sentence() {
  if (void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL); driver != nullptr) {
    dlclose(driver);
    return "";
  }
  return "No program can use a GPU here, because there is no CUDA driver (libcuda.so.1): install NVIDIA's driver, "
         "or run it on a machine that has one.";
}

}  // namespace penstock::cli
