// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/core/shared_library.hpp"
#include "penstock/error.hpp"

namespace penstock {

/// Names of the library that decodes a format, and of alternatives to it.
struct DecodingLibraryNames {
  char const* format;
  char const* soname;
  char const* package;  ///< Package of Debian.
  char const* command;  ///< Command that decodes to standard output.
};

/// A library that decodes, loaded at run time.
class DecodingLibrary {
 public:
  /// Loads `wish`, or else the library of `names`.
  ///
  /// Throws: Error of kind unsupported, if it cannot be loaded.
  DecodingLibrary(DecodingLibraryNames const& names, std::string const& wish)
      : name_(wish.empty() ? names.soname : wish), library_({name_}) {
    if (library_.loaded()) return;
    throw Error(ErrorKind::unsupported, std::string("it is compressed by ") + names.format + ", and " + name_ +
                                            " cannot be loaded (" + library_.reasons() + "): install it (" +
                                            names.package + " on Debian), or give what `" + names.command +
                                            " FILE` prints as standard input");
  }

  /// Sets `function` to the library's function of that name.
  ///
  /// Throws: Error of kind unsupported, if the library has no such function.
  template <class Function>
  void expect(Function*& function, char const* name) const {
    library_.find(function, name);
    if (function == nullptr) throw Error(ErrorKind::unsupported, name_ + " has no " + name + ": install a newer one");
  }

 private:
  std::string const name_;
  SharedLibrary const library_;
};

}  // namespace penstock
