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

#include "penstock/core/descriptor.hpp"
#include "penstock/file/name_history.hpp"

namespace penstock {

/// Waits until files change, by inotify, or until a stop is requested.
///
/// Each file has an owner, a number that `wait` reports. Files may have several owners, and owners several files.
///
/// Threads: one at a time.
class ChangeWatch {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Change {
    contents,        ///< An open file was written to or truncated, or the rights of the name changed.
    name,            ///< `event` tells which name of the folder means another file or none.
    folder_gone,     ///< The folder was removed or has another name, or is no longer watched for another reason.
    events_dropped,  ///< More changed than the system keeps: anything may have.
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
  /// Reports when any name in the folder comes to mean another file or none, when the rights of `name` change, and when
  /// the folder is gone. While a file in it is open the system does not tell that a folder was removed, so its own name
  /// is to be watched, too.
  ///
  /// Throws: FileProblem, without the folder's name.
  int watch_names(std::string const& folder, std::string const& name, std::size_t owner);
  /// Reports `folder_gone` when this name in the folder above comes to mean another one or none.
  ///
  /// Throws: as watch_names.
  int watch_folder_name(std::string const& above, std::string const& name, std::size_t owner);
  /// Reports nothing of this watch to this owner from now on.
  void forget(int watch, std::size_t owner) noexcept;

  /// Reports what changed, in its order. Where the system dropped events, that is reported to all owners.
  ///
  /// Blocks: until something changed, a stop is requested, or `until` has come; without `until` for ever.
  void wait(std::optional<Clock::time_point> until, Changed const& changed);

 private:
  struct Watched {
    std::size_t owner = 0;
    Change what = Change::contents;
    std::string name = {};  ///< In a folder; empty for a file.
  };
  int add(char const* path, std::uint32_t events, Watched watched);
  static void report_name(Watched const& one, std::uint32_t mask, NameEvent const& event, Changed const& changed);
  bool report(Changed const& changed);

  Descriptor const events_, stopped_;
  std::unordered_map<int, std::vector<Watched>> watched_;
  std::stop_callback<std::function<void()>> const on_stop_;
};

}  // namespace penstock
