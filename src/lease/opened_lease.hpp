// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/lease/lease_source.hpp"
#include "penstock/report.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// One lease while its tiles are on the way: what was cut of it, what came back, and what that makes of it.
///
/// Threads: any; `cut` one at a time.
class OpenedLease {
 public:
  /// One piece of the lease's bytes.
  struct Piece {
    std::uint64_t offset = 0;
    std::size_t bytes = 0;
  };

  /// Opens the lease's input. If that fails, the lease has one tile, which cannot be filled.
  OpenedLease(Lease lease, LeaseSourceOptions const& options);

  Lease const& lease() const noexcept { return lease_; }
  /// The next piece, of at most this size; nothing once all is cut, or if a tile came back that was not done.
  std::optional<Piece> cut(std::size_t most);
  /// Throws: what the input throws, also when it was opened.
  void read(Piece const& piece, std::span<std::byte> to) const;
  /// Notes that a tile came back done, and was used.
  void came_back_done();
  /// Notes that a tile came back, and why it is not done.
  void came_back(Completion const& completion);
  /// Notes that a tile came back done, but could not be used.
  void came_back_unusable(std::string reason);
  /// Notes that what fails is no fault of the lease: it is given back.
  void is_blameless();
  /// True once, as soon as no tile of it is on the way or to come.
  bool ends();
  /// What is to be said of it; acknowledge, if all tiles are done. Valid once it `ends`, or if it is a suspect. If all
  /// tiles that failed with a device are innocent by `found`, which may be null, what its other tiles came to counts.
  Settlement settlement(Attribution const* found = nullptr) const;
  /// True if a lost device had a tile of it. The rest of its tiles may never be cut.
  bool is_suspect() const;

 private:
  Settlement of(Settlement::Kind kind, std::string reason) const;
  bool is_innocent(Attribution const& found) const;
  void fail(Settlement::Kind kind, std::string reason);

  Lease const lease_;
  std::unique_ptr<LeaseInput> input_;
  std::exception_ptr not_opened_;
  std::uint64_t bytes_ = 0;
  std::mutex mutable mutex_;  ///< Guards all below.
  std::uint64_t cut_bytes_ = 0;
  std::uint64_t cut_tiles_ = 0;
  std::uint64_t came_back_ = 0;
  bool all_cut_ = false;
  bool ended_ = false;
  bool blameless_ = false;
  Settlement::Kind kind_ = Settlement::Kind::acknowledge;  ///< By the tiles that no lost device had.
  std::string reason_;
  std::vector<std::uint64_t> lost_;  ///< Sequences of tiles that failed with their device.
  std::string loss_;                 ///< The reason why the first of them failed.
};

}  // namespace penstock
