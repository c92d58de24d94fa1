// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <sys/stat.h>

#include "engine/core/descriptor.hpp"
#include "ingest/file/change_watch.hpp"
#include "ingest/file/name_history.hpp"

namespace penstock {

/// The files that have had a path one after the other, open and watched, for a reader that reads each to its end.
///
/// Threads: one at a time.
/// Throws:  FileProblem, without the path.
class RotatedFiles {
 public:
  /// A file that is open, and watched.
  class Open {
   public:
    /// Owns the descriptor.
    Open(Descriptor& descriptor, ChangeWatch& watch, std::uint64_t owner);
    Open(Open const&) = delete;
    Open& operator=(Open const&) = delete;
    ~Open();
    int descriptor() const noexcept { return file_.number; }
    struct stat status() const;
    std::uint64_t size() const { return static_cast<std::uint64_t>(status().st_size); }

   private:
    Descriptor const file_;
    ChangeWatch& watch_;
    std::uint64_t const owner_;
    int watching_ = -1;
  };

  /// The files are owner number `owner` at `watch`, which must outlive this. `look_for_changes` makes this object note
  /// the reports of the watch.
  RotatedFiles(std::string const& path, std::uint64_t owner, ChangeWatch& watch,
               std::function<void()> look_for_changes);
  RotatedFiles(RotatedFiles const&) = delete;
  RotatedFiles& operator=(RotatedFiles const&) = delete;
  ~RotatedFiles();

  /// Notes a report; true if it concerns these files or their name.
  bool note(ChangeWatch::News const& news);
  /// Opens new files. `read_all`: all of the first file has been read.
  void look(bool read_all);

  /// The file to read now; null if there is none yet.
  Open* now() noexcept { return opened_.empty() ? nullptr : opened_.begin()->second.get(); }
  /// True if a file behind the first one has bytes: the first one is read to its end, then the next one.
  bool has_next() const;
  /// Drops the first file, which was read to its end. Following files without bytes are skipped if a later one has
  /// some.
  void drop_first();
  void give_up() noexcept;

  /// Number of files that had the path, and were removed or moved to another folder before they could be opened.
  std::uint64_t lost() const noexcept { return lost_; }
  /// True if the system dropped events, so that other files may have had the path in between.
  bool missed_events() const noexcept { return missed_events_; }
  /// Number of times that the path had another file after the system had dropped events.
  std::uint64_t unseen_rotations() const noexcept { return unseen_rotations_; }

 private:
  void watch_names();
  void forget_names() noexcept;
  void begin_anew();
  void open_named();
  bool open_one(NameHistory::File const& file);
  bool is_known(struct stat const& status, NameHistory::File const& file);
  int open(std::string const& name) const;
  bool has_other_file();

  std::string const folder_, name_;
  std::uint64_t const owner_;
  ChangeWatch& watch_;
  std::function<void()> const look_for_changes_;
  std::array<int, 2> watches_{-1, -1};  ///< Watches of the name in its folder, and of the folder's own name.
  bool folder_gone_ = true, events_gone_ = false;
  NameHistory history_;
  std::map<std::uint64_t, std::unique_ptr<Open>> opened_;  ///< Open files by their numbers in the history.
  std::uint64_t lost_ = 0, unseen_rotations_ = 0;
  bool missed_events_ = false;
  bool name_unsure_ = false;  ///< Events were dropped since a file was found under the path.
};

}  // namespace penstock
