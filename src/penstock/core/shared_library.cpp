// SPDX-License-Identifier: Apache-2.0
#include "penstock/core/shared_library.hpp"

#include <cstdlib>
#include <filesystem>

#include <dlfcn.h>

namespace penstock {

SharedLibrary::SharedLibrary(std::vector<std::string> const& names) {
  for (std::string const& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      reasons_.clear();
      return;
    }
    char const* const reason = dlerror();
    if (reason != nullptr) reasons_ += (reasons_.empty() ? "" : "; ") + std::string(reason);
  }
}

void* SharedLibrary::address_of(char const* name) const {
  return dlsym(handle_, name);
}

std::vector<std::string> cuda_library_names(std::vector<std::string> names, std::string const& name_in_folder,
                                            std::vector<std::string> const& folders) {
  char const* const home = std::getenv("CUDA_HOME");
  for (std::string const& root : {std::string(home == nullptr ? "" : home), std::string("/usr/local/cuda")}) {
    if (root.empty()) continue;
    for (std::string const& folder : folders)
      names.push_back((std::filesystem::path(root) / folder / name_in_folder).string());
  }
  return names;
}

}  // namespace penstock
