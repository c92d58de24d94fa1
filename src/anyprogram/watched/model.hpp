// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "anyprogram/watched/log.hpp"
#include "observe/verdict/overlap.hpp"

namespace penstock::cli {

/// Work of a kind that the device does one at a time.
enum class WorkKind : std::uint8_t { upload, download, kernel, other };

/// A stream, seen from the device.
struct WatchedStream {
  std::uint16_t device = 0;
  std::uint64_t number = 0;  ///< CUPTI's number.
  std::uint64_t handle = 0;  ///< Its handle; 0 if no call of it is known.
  bool blocking = true;      ///< It waits for the legacy default stream, and the latter for it.
  std::uint64_t works = 0;
  std::int64_t busy = 0;  ///< Nanoseconds.
};

/// A work of the device.
struct Work {
  WatchRecord const* activity = nullptr;
  WatchRecord const* call = nullptr;  ///< The call that asked for it; null if the log does not have it.
  std::size_t stream = 0;
  WorkKind kind = WorkKind::other;
  std::int64_t begin = 0;  ///< Nanoseconds since the log began; likewise below.
  std::int64_t end = 0;
  std::int64_t ready = 0;  ///< Time when it had been asked for, and the work before it in its stream was done.
};

/// Measures how much of a set of intervals lies in a stretch.
class MeasuredIntervals {
 public:
  explicit MeasuredIntervals(Intervals intervals);
  std::int64_t within(std::int64_t begin, std::int64_t end) const;
  Intervals const& intervals() const noexcept { return intervals_; }

 private:
  std::int64_t before(std::int64_t moment) const;

  Intervals intervals_;
  std::vector<std::int64_t> sums_;  ///< Sums of the lengths of the intervals before each.
};

/// A log, with each work of the device beside the call that asked for it.
///
/// Shape: the log outlives it, and is not moved.
class WatchModel {
 public:
  explicit WatchModel(WatchLog const& log);

  WatchLog const& log() const noexcept { return log_; }
  std::vector<Work> const& works() const noexcept { return works_; }  ///< Works ordered by their begin.
  std::vector<WatchedStream> const& streams() const noexcept { return streams_; }
  Overlap const& overlap() const noexcept { return overlap_; }
  /// Time from the first start to the last end of an upload, download or kernel.
  Interval window() const noexcept { return window_; }
  /// Sum of the lengths of all uploads, downloads and kernels.
  std::int64_t serial() const noexcept { return serial_; }
  /// Time of the busiest of the three kinds, which is the least that all could take.
  std::int64_t possible() const noexcept;
  /// 1 - window / serial, as in textbooks: 0 for one after the other, less with gaps. Empty without work.
  std::optional<double> text_overlap() const;
  /// Times in which anything ran.
  Intervals const& busy() const noexcept { return busy_; }
  /// Times in which at least two streams had work that was asked for and not done.
  MeasuredIntervals const& several() const noexcept { return several_; }
  std::int64_t since_begin(std::uint64_t time) const noexcept { return static_cast<std::int64_t>(time - log_.began); }
  std::string stream_text(std::size_t stream) const;

 private:
  void find_works();
  void find_ready();
  Intervals when_several() const;

  WatchLog const& log_;
  std::vector<Work> works_;
  std::vector<WatchedStream> streams_;
  Overlap overlap_;
  Interval window_;
  std::int64_t serial_ = 0;
  Intervals busy_;
  MeasuredIntervals several_{Intervals()};
};

/// Time for which the device did anything for these processes: copies, memsets and kernels, on any of their GPUs.
std::int64_t busy_time(std::span<WatchLog const> logs);
/// True if the call returns only once the device has done something: it synchronizes, or is a copy without Async.
bool blocks_host(WatchRecord const& call);
/// True if the stream of this call is the legacy default stream.
bool in_legacy_stream(WatchRecord const& call);

}  // namespace penstock::cli
