// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <sys/types.h>

namespace penstock {

/// Gives the file `to`, one of this process's own, that owner, group and mode. It asks only for what differs: file
/// systems without owners refuse even what is so already.
///
/// Threads: any.
/// Returns: 0, or the errno of what failed.
int take_owner_and_mode(int to, uid_t owner, gid_t group, mode_t mode);

/// Waits until a file's content is on the disk. A file system that cannot do that has nothing to wait for.
///
/// Threads: any.
/// Returns: 0, or the errno of what failed.
int sync_file(int descriptor);

/// A new file in a folder, which is removed again unless it takes the place of another. It has no name until then,
/// where the file system allows that.
///
/// Threads: one at a time.
class NewFile {
 public:
  /// Opens one in the folder with descriptor `folder`, next to the file `name` that it may replace. If it cannot be
  /// opened `descriptor()` is negative, and errno says why.
  ///
  /// Throws: Error, if the system gives no random number for its name.
  NewFile(int folder, std::string const& name, mode_t mode);
  NewFile(NewFile const&) = delete;
  NewFile& operator=(NewFile const&) = delete;
  ~NewFile();

  int descriptor() const noexcept { return descriptor_; }

  /// Renames it to `name`, and so replaces what has that name.
  ///
  /// Returns: 0, or the errno of what failed.
  int take_place_of(std::string const& name);

 private:
  int open_named(std::string const& name, mode_t mode);
  bool take_name(std::string const& fresh);
  int become_named(std::string const& name);

  int const folder_;
  int descriptor_;
  std::string name_;  ///< Empty while it has none.
};

}  // namespace penstock
