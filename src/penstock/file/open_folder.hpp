// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace penstock {

/// A directory that is open: what is below it is found from here, whatever becomes of its path, and however long that
/// is.
///
/// Threads: any.
/// Throws:  FileProblem, without the path.
class OpenFolder {
 public:
  /// Follows links.
  explicit OpenFolder(std::string const& path);
  /// A directory of this name in another, and no link to one. `..` is the one above.
  OpenFolder(OpenFolder const& in, std::string const& name);
  OpenFolder(OpenFolder const&) = delete;
  OpenFolder& operator=(OpenFolder const&) = delete;
  ~OpenFolder();

  int descriptor() const noexcept { return descriptor_; }

  /// Tells a directory from all others, while any of both is open.
  struct Identity {
    dev_t device = 0;
    ino_t number = 0;
    bool operator==(Identity const&) const = default;
  };
  Identity identity() const;

  /// What is in a directory, by one name.
  struct Entry {
    std::string name;
    mode_t kind = 0;      ///< One of S_IFMT, or 0 if that is not known.
    std::string problem;  ///< Why not, or empty.
  };
  /// Adds all that is in it but itself and the one above, in no order. Call it once.
  ///
  /// Throws: also if it can be read in part only; that part was added.
  void list(std::vector<Entry>& to) const;

 private:
  int descriptor_;
};

}  // namespace penstock
