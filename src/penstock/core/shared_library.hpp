// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace penstock {

/// A library that is looked for when the program runs. It is never closed: its threads and the driver's hooks stay.
///
/// Threads: any.
class SharedLibrary {
 public:
  /// Loads the first of `names` that can be; without any the library is not there.
  explicit SharedLibrary(std::vector<std::string> const& names);

  bool loaded() const noexcept { return handle_ != nullptr; }
  /// Why none of the names could be loaded, each in the loader's words; empty if one was.
  std::string const& reasons() const noexcept { return reasons_; }
  /// Sets `function` to the one of that name; to null if the library has none.
  template <class Function>
  void find(Function*& function, char const* name) const {
    function = reinterpret_cast<Function*>(address_of(name));
  }

 private:
  void* address_of(char const* name) const;

  void* handle_ = nullptr;
  std::string reasons_;
};

/// Where a library of NVIDIA's may lie: for each of `names` what the loader finds, then `name_in_folder` in each of
/// `folders` below $CUDA_HOME and /usr/local/cuda.
std::vector<std::string> cuda_library_names(std::vector<std::string> names, std::string const& name_in_folder,
                                            std::vector<std::string> const& folders);

}  // namespace penstock
