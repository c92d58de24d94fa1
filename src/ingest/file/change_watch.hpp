// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/core/descriptor.hpp"
#include "ingest/file/name_history.hpp"

namespace penstock {

/// Waits until files change, by inotify, or until a stop is requested.
///
/// Each file has an owner, a number that `wait` reports. A file may have several owners, and an owner several files.
///
/// Threads: one at a time.
class ChangeWatch {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Change {
    contents,        ///< An open file was written to or truncated, or the permissions of the name changed.
    name,            ///< `event` has the name of the folder that now refers to another file or to none.
    folder_gone,     ///< The folder was removed or has another name, or is no longer watched for another reason.
    events_dropped,  ///< More changed than the system keeps: anything may have changed.
  };
  struct News {
    Change change = Change::contents;
    NameEvent event = {};
  };
  using Changed = std::function<void(std::size_t owner, News const& news)>;

  /// Throws: Error of kind system, if the system has no inotify instance or no descriptor left.
  explicit ChangeWatch(std::stop_token const& stop);

  /// Reports `contents` when this open file is written to or truncated, whatever name it has. Returns the watch.
  ///
  /// Throws: FileProblem, without the file's name.
  int watch_file(int descriptor, std::size_t owner);
  /// Reports when any name in the folder refers to another file or none, when the permissions of `name` change, and
  /// when the folder is gone. While a file in it is open, the system does not report the removal of a folder, so its
  /// own name must be watched, too.
  ///
  /// Throws: FileProblem, without the folder's name.
  int watch_names(std::string const& folder, std::string const& name, std::size_t owner);
  /// Reports `folder_gone` when this name in the folder `above` refers to another folder or none.
  ///
  /// Throws: as watch_names.
  int watch_folder_name(std::string const& above, std::string const& name, std::size_t owner);
  /// Reports nothing of this watch to this owner any more.
  void forget(int watch, std::size_t owner) noexcept;

  /// Reports changes in their order. If the system dropped events, all owners get a report of that.
  ///
  /// Blocks: until something changed, a stop is requested, or `until` has come; without `until` for ever.
  void wait(std::optional<Clock::time_point> until, Changed const& changed);

 private:
  struct Watched {
    std::size_t owner = 0;
    Change what = Change::contents;
    std::string name = {};  ///< Name in a folder; empty for a file.
  };
  int add(char const* path, std::uint32_t events, Watched watched);
  static void report_name(Watched const& one, std::uint32_t mask, NameEvent const& event, Changed const& changed);
  bool report(Changed const& changed);

  Descriptor const events_, stopped_;
  std::unordered_map<int, std::vector<Watched>> watched_;
  std::stop_callback<std::function<void()>> const on_stop_;
};

}  // namespace penstock
