// SPDX-License-Identifier: Apache-2.0
#include "engine/core/shared_library.hpp"

#include <cstdlib>

#include <dlfcn.h>

namespace penstock {

SharedLibrary::SharedLibrary(std::vector<std::string> const& names) {
  auto const add_reason = [&](std::string const& reason) { reasons_ += (reasons_.empty() ? "" : "; ") + reason; };
  for (std::string const& name : names) {
    // The loader takes an empty name for the program itself.
    if (name.empty() || is_relative_path(name)) {
      add_reason(name + ": neither the name of a library nor an absolute path");
      continue;
    }
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      reasons_.clear();
      return;
    }
    if (char const* const reason = dlerror()) add_reason(reason);
  }
}

void* SharedLibrary::address_of(char const* name) const {
  return dlsym(handle_, name);
}

bool is_relative_path(std::string_view name) noexcept {
  return name.find('/') != std::string_view::npos && !name.starts_with('/');
}

std::vector<std::string> cuda_library_names(std::vector<std::string> names, std::string const& name_in_folder,
                                            std::vector<std::string> const& folders) {
  char const* const home = secure_getenv("CUDA_HOME");
  for (std::string const& root : {std::string(home == nullptr ? "" : home), std::string("/usr/local/cuda")}) {
    if (root.empty()) continue;
    for (std::string const& folder : folders)
      names.push_back((root + '/').append(folder).append("/").append(name_in_folder));
  }
  return names;
}

}  // namespace penstock
