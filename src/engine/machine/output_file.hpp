// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <stop_token>
#include <string>

#include <sys/stat.h>

#include "engine/core/descriptor.hpp"
#include "engine/machine/new_file.hpp"

namespace penstock {

/// A file that a program writes as a whole or not at all.
///
/// The new content is a file of its own in the same folder until all of it is on the disk. Then it takes the place of
/// the old file in one step, with the mode and the owner of the old one. A link is followed: its target is replaced.
/// While it is written the new file has no name where the file system allows that, else one as in
/// ".NAME.penstock-1f6c0a9e52d3b784".
///
/// What is no regular file (a pipe, a terminal, /dev/null) and what a process has open, by a name like /dev/stdout, is
/// opened once, by the constructor, and written as it is.
///
/// Threads: one at a time; `is` any.
class OutputFile {
 public:
  /// Finds what `path` leads to and holds its folder; nothing is made or changed yet.
  ///
  /// Blocks: for a named pipe, until it has a reader. A request of `stop` ends this wait and those of `write`.
  /// Throws: Error of kind bad_argument, if it cannot be written. Error of kind system, if `stop` ended the wait or no
  /// more files can be opened; of kind out_of_memory.
  explicit OutputFile(std::string path, std::stop_token stop = {});
  OutputFile(OutputFile const&) = delete;
  OutputFile& operator=(OutputFile const&) = delete;

  /// The path as the user named it.
  std::string const& path() const noexcept { return path_; }
  /// True if a new file takes its place; false if it is written as it is.
  bool is_replaced() const noexcept { return opened_.number < 0; }
  /// The descriptor of what is written as it is; negative, if a new file takes its place.
  int opened() const noexcept { return opened_.number; }
  /// True if `other` is what is replaced or written, by whatever name; false, if there was no file.
  bool is(struct stat const& other) const noexcept;
  /// True if `path` leads to what is replaced or written.
  bool is(std::string const& path) const noexcept;
  /// True if both will be one file, which may not be there yet.
  bool is(OutputFile const& other) const noexcept;
  /// True if it is a regular file that was not empty when it was found.
  bool held_something() const noexcept { return found_ && S_ISREG(found_->st_mode) && found_->st_size > 0; }

  /// Lets `write` write all of it, in one go. `what` names the content to the reader of an error, as in "the trace".
  ///
  /// Blocks: until all is on the disk; for a pipe, until it is read, or `stop` is requested and the reader takes
  /// nothing. Throws: Error of kind system, if not all can be written, and what `write` throws. What was there is then
  /// as it was, unless it is written as it is, or all is written and only its name may not be on the disk.
  void write(std::string const& what, std::function<void(std::ostream&)> const& write);

  /// The new content of a file that is replaced, for a program that writes it bit by bit.
  ///
  /// Threads: one at a time.
  class Draft {
   public:
    /// `file` outlives it. `what` names the content to the reader of an error.
    ///
    /// Throws: Error of kind system, if the folder takes no new file.
    Draft(OutputFile const& file, std::string const& what);

    /// The descriptor that the content is written to.
    int descriptor() const noexcept { return fresh_.descriptor(); }
    /// Puts it in the place of the old file, once it is on the disk. Without this call the file stays as it was.
    ///
    /// Blocks: until it is on the disk, under its name.
    /// Throws: Error of kind system, if that fails; the file is then as it was, unless all is written and only its name
    ///         may not be on the disk.
    void take_place();
    /// Throws: Error of kind system that says so, if `problem`, an errno, is not 0.
    void expect_none(int problem) const;

   private:
    OutputFile const& file_;
    std::string const of_what_;
    NewFile fresh_;
  };

 private:
  void find();
  void open_as_it_is(std::string const& path, bool waits);
  void expect_replaceable() const;
  void replace(std::string const& what, std::function<void(std::ostream&)> const& write) const;

  std::string const path_;
  std::stop_token const stop_;
  std::optional<struct stat> found_;  ///< The file that is replaced or written; empty if there was none.
  Descriptor opened_;                 ///< The file that is written as it is.
  Descriptor folder_;                 ///< The folder of the file that is replaced,
  std::string name_;                  ///< and its name there.
};

}  // namespace penstock
