// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "penstock/ingest/files.hpp"

namespace penstock::cli {

/// Files of a group that need tiles of their own, until a producer takes them.
///
/// Threads: any.
class DeferredFiles {
 public:
  /// A file and its number in the HashBook.
  struct Deferred {
    std::uint64_t number = 0;
    InputFile input = {};
  };

  /// A thread may put files here from this call until `group_ended`.
  void group_began();
  void group_ended() noexcept;

  /// False if the object is closed: the file is not taken.
  bool put(std::uint64_t number, InputFile input);
  bool empty() const;
  /// The first of these files; empty if there is none.
  std::optional<Deferred> take();
  /// The same, but waits while there is none and a group may still put one here.
  ///
  /// Blocks: until then, or `stop` is requested.
  std::optional<Deferred> wait(std::stop_token const& stop);
  /// Returns the numbers of the remaining files; no other is taken from now on.
  std::vector<std::uint64_t> close();

 private:
  std::optional<Deferred> take_locked();

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::uint64_t, InputFile> files_;  ///< Files in the order of the input, so that lines come soon.
  std::size_t groups_ = 0;                    ///< Groups that began and have not ended.
  bool closed_ = false;
};

}  // namespace penstock::cli
