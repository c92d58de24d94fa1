// SPDX-License-Identifier: Apache-2.0
// A kernel of the program's own code for GPUs, by the driver's library.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "penstock/penstock.h"

namespace penstock::c {

/// A kernel that is found in an image when the first run starts, and the arguments it gets.
///
/// Threads: any.
class ModuleKernel {
 public:
  /// Throws: Error of kind bad_argument, if it cannot be a kernel.
  explicit ModuleKernel(penstock_kernel_of_module const& described);
  ModuleKernel(ModuleKernel const&) = delete;
  ModuleKernel& operator=(ModuleKernel const&) = delete;
  ~ModuleKernel();

  /// Loads the code for the GPU of the calling thread.
  ///
  /// Blocks: for PTX as long as the driver compiles it, some tenths of a second.
  /// Throws: Error, if the lane has no GPU, or no code fits it.
  void load(penstock_lane const& lane);
  /// Launches it, and returns the bytes of output that it makes.
  ///
  /// Throws: Error.
  std::int64_t launch(penstock_device_tile const& tile, void* stream) const;

 private:
  struct Argument {
    std::uint32_t kind;
    std::vector<std::byte> value;
  };

  [[noreturn]] void refuse(int error, std::string const& reason, penstock_lane const& lane) const;

  std::string const image_;  ///< With the zero that ends text.
  std::string const name_;
  penstock_kernel_of_module const shape_;
  std::vector<Argument> arguments_;
  std::mutex loading_;
  void* library_ = nullptr;
  std::atomic<void*> kernel_ = nullptr;
};

}  // namespace penstock::c
