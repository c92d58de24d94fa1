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

#include "penstock/files.hpp"

namespace penstock::cli {

/// Files of a group that turned out to be for tiles of their own, until a producer comes to them.
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

  /// False if they are closed: the file is not taken any more.
  bool put(std::uint64_t number, InputFile input);
  bool empty() const;
  /// The first of those that are here; empty if there is none.
  std::optional<Deferred> take();
  /// The same, but while there is none it waits for the groups that may still put one here.
  ///
  /// Blocks: until then, or `stop` is requested.
  std::optional<Deferred> wait(std::stop_token const& stop);
  /// Gives the numbers of those that are left; no other is taken from now on.
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
