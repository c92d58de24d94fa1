// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace penstock {

/// A library that is looked for when the program runs. It is never closed: its threads and the driver's hooks stay.
///
/// Threads: any.
class SharedLibrary {
 public:
  /// Loads the first of `names` that can be loaded; if none can, the library is not there. A name without a slash is
  /// looked for where the system looks for libraries, an absolute path is taken as it is, and no other is loaded.
  explicit SharedLibrary(std::vector<std::string> const& names);

  bool loaded() const noexcept { return handle_ != nullptr; }
  /// The loader's reason for each of the names, if none could be loaded; empty if one was.
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

/// True if the file that this name of a library means depends on the current directory: it has a slash and is no
/// absolute path.
bool is_relative_path(std::string_view name) noexcept;

/// Returns where an NVIDIA library may lie: `names` for the loader, then `name_in_folder` in each of
/// `folders` below $CUDA_HOME and /usr/local/cuda. A program that runs with more rights than its user takes nothing
/// from CUDA_HOME.
std::vector<std::string> cuda_library_names(std::vector<std::string> names, std::string const& name_in_folder,
                                            std::vector<std::string> const& folders);

}  // namespace penstock
