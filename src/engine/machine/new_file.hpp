// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <stop_token>
#include <streambuf>
#include <string>

#include <sys/types.h>

namespace penstock {

/// Buffer through which a std::ostream writes to a descriptor. The descriptor stays open.
///
/// Blocks: while what is written to takes nothing; once `stop` is requested, for a second at most.
class DescriptorStream : public std::streambuf {
 public:
  DescriptorStream(int descriptor, std::stop_token stop);

  /// Hands over what the buffer holds.
  ///
  /// Returns: 0, or the first errno of any write; ECANCELED if it was given up.
  int finish();

 protected:
  int_type overflow(int_type character) override;
  int sync() override;

 private:
  /// A pipe takes this many bytes without waiting, if it has room for anything.
  static constexpr std::size_t most_of_pipe = 4096;
  bool write_out();
  bool has_room();

  int const descriptor_;
  std::stop_token const stop_;
  int problem_ = 0;
  bool const regular_;  ///< True for a regular file, which always has room.
  std::array<char, 16 * most_of_pipe> buffer_{};
};

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

/// Waits until the names of a folder's files are on the disk, so that they are found after a crash as well. A file
/// system that cannot do that for folders has nothing to wait for.
///
/// Threads: any.
/// Returns: 0, or the errno of what failed.
int sync_folder(int folder);

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
