// SPDX-License-Identifier: Apache-2.0
// Buffers of a program that threads of the library copy into tiles.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "c/waiting_run.hpp"

#include "penstock/tile.hpp"

namespace penstock::c {

/// A source of buffers that the program lends. Each is cut into as many tiles as it needs, in the order of the calls.
///
/// Threads: any.
class LentSource final : public Source {
 public:
  /// At most `most` buffers wait to be copied.
  LentSource(std::size_t tiles, std::size_t tile_bytes, std::size_t most, std::stop_token stop);

  bool next(Tile& tile) override;
  std::size_t fill(Tile& tile) override;

  /// Lends a buffer. False at the time limit.
  ///
  /// Blocks: while too many wait, for so long at most; without a limit, until then.
  /// Throws: Error of kind ended, behind `end` or a stop.
  bool lend(std::span<std::byte const> bytes, std::uint64_t tag, void* handle,
            std::optional<std::chrono::nanoseconds> at_most);
  /// Takes handles of buffers that are copied, or never will be.
  std::size_t take_back(std::span<void*> handles);
  /// No more are lent.
  void end();
  /// Gives back what was not copied. Only once no thread is in `next` or `fill`, and none will be.
  void give_back_rest();

 private:
  struct Lent {
    std::span<std::byte const> bytes;
    std::uint64_t tag;
    void* handle;
    std::size_t next = 0;               ///< First byte that no tile has.
    std::atomic<std::size_t> left = 0;  ///< Tiles that it is still to be copied into.
  };
  struct Piece {
    std::shared_ptr<Lent> of;
    std::span<std::byte const> bytes;
  };

  void give_back(Lent const& lent);
  bool is_closed() const { return ended_ || stop_.stop_requested(); }

  std::size_t const tile_bytes_;
  std::size_t const most_;
  std::stop_token const stop_;
  std::vector<Piece> pieces_;  ///< By the index of the tile.
  std::mutex mutex_;
  std::condition_variable_any comes_;
  std::condition_variable_any goes_;
  std::deque<std::shared_ptr<Lent>> waiting_;
  std::size_t lenders_waiting_ = 0;
  bool source_waits_ = false;
  bool ended_ = false;
  std::mutex back_mutex_;
  std::vector<void*> back_;
};

/// The source of a run of lent buffers; null if it has another.
inline LentSource* lent_by(WaitingRun const& run) noexcept {
  return dynamic_cast<LentSource*>(run.source());
}

}  // namespace penstock::c
