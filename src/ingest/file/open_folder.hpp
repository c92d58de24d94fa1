// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace penstock {

/// An open directory: entries below it are found from here, whatever becomes of its path, and however long that is.
///
/// Threads: any.
/// Throws:  FileProblem, without the path.
class OpenFolder {
 public:
  /// Follows links.
  explicit OpenFolder(std::string const& path);
  /// Opens a directory of this name in another, and no link to one. `..` is the parent.
  OpenFolder(OpenFolder const& in, std::string const& name);
  OpenFolder(OpenFolder const&) = delete;
  OpenFolder& operator=(OpenFolder const&) = delete;
  ~OpenFolder();

  int descriptor() const noexcept { return descriptor_; }

  /// Identifies a directory among all others, while either is open.
  struct Identity {
    dev_t device = 0;
    ino_t number = 0;
    bool operator==(Identity const&) const = default;
  };
  Identity identity() const;

  /// An entry of a directory.
  struct Entry {
    std::string name;
    mode_t kind = 0;      ///< One of S_IFMT, or 0 if not known.
    std::string problem;  ///< The reason why it is not known, or empty.
  };
  /// Adds all entries but itself and the parent, in no order. Call it once.
  ///
  /// Throws: also if it can be read in part only; that part was added.
  void list(std::vector<Entry>& to) const;

 private:
  int descriptor_;
};

}  // namespace penstock
