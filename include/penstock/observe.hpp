// SPDX-License-Identifier: Apache-2.0
// Observers of runs: the bottleneck, the tile that lost its device, the times of each tile. Target: penstock::observe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "penstock/clock.hpp"
#include "penstock/observe/recording.hpp"
#include "penstock/options.hpp"
#include "penstock/steps.hpp"

namespace penstock {

/// Makes a hook for Watching::hooks that judges each run. Report::verdict names the bottleneck and the remedy. The
/// pipeline then has a recorder of its own, which takes 8 MiB, records the first 20,000 tiles or so, and costs what
/// every recorder costs (docs/performance.md). It cannot be combined with Watching::recorder or used twice.
RunHookMaker verdicts();

/// Makes a hook for Watching::hooks that finds the tile that lost a device. After the run the tiles that the device had
/// are run again, one at a time, in a new process, and Report::attribution names the ones that fail (docs/faults.md).
/// It costs nothing while a run succeeds. A tile that does not end takes Tuning::patience once more.
///
/// `command` is the program that is started for that, and its arguments. It must reach `run` or `start` of a pipeline
/// with tiles of this shape that has such a hook; it does not continue beyond that. Empty: this program, with its
/// present arguments.
RunHookMaker attribution(std::vector<std::string> command = {});

struct RecorderOptions {
  std::size_t capacity = std::size_t{1} << 20;  ///< Maximum number of passages; each takes 32 bytes, allocated at
                                                /// construction.
  std::uint64_t every = 1;                      ///< Sampling: one in so many tiles is recorded.
  /// Once it is full, half of the tiles are discarded, and from then on half as many are recorded: for runs of any
  /// length. Otherwise the rest of the run is not recorded.
  bool thin_out = false;
  std::size_t spans = std::size_t{1} << 20;  ///< Maximum number of spans, and of their names; each span takes 40
                                             ///< bytes, allocated as they come.
};

/// Notes where tiles were, and when: for Watching::recorder. Target: penstock::observe.
///
/// Threads: any, but for `take`.
/// Blocks:  never, but for `add_row`, `row_here`, `span_number` and `note_span`, which take a lock; so does `note`, if
///          it may thin out.
class Recorder final : public StepLog {
 public:
  /// Throws: Error of kind bad_argument, if `every` or the capacity is 0.
  explicit Recorder(RecorderOptions options = {});
  ~Recorder() override;

  /// True if tile `sequence` is to be recorded: one in `every` of all tiles, in groups of sixteen in a row, the first
  /// group among them. In a row, because the first timed tile on a device behind untimed ones takes twice as many
  /// marks. Groups are not spaced by `every`, because then some of the alternating lanes would never be recorded.
  ///
  /// Source: Fibonacci hashing; Knuth, The Art of Computer Programming 3, 6.4. A thread that gets every n-th tile has
  /// its share of the tiles to look at, and a tile that is wanted when fewer are is also wanted when more are.
  bool wants(std::uint64_t sequence) const noexcept override {
    constexpr std::uint64_t in_a_row = 16;
    constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15U;
    // Relaxed: a thread that reads the old number records tiles that are discarded later.
    return sequence / in_a_row * golden <=
           std::numeric_limits<std::uint64_t>::max() / every_.load(std::memory_order_relaxed);
  }
  /// Converts a time of the clock to the time of recordings.
  ///
  /// Units: nanoseconds since the recorder was made.
  std::int64_t since_start(Clock::time_point time) const noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time - start_).count();
  }
  void set_tiles(std::size_t tiles) noexcept override { tiles_.store(tiles, std::memory_order_relaxed); }
  std::uint32_t add_row(std::string name, RecordRow::Kind kind, std::string engine = {}) override;
  std::uint32_t row_here() override;
  void note(std::uint32_t row, Step step, std::uint64_t tile, Clock::time_point begin,
            Clock::time_point end) noexcept override;
  void note_here(Step step, std::uint64_t tile, Clock::time_point begin, Clock::time_point end) noexcept override;
  std::optional<std::uint32_t> span_number(std::string_view name) noexcept override;
  /// Notes a span; `take` leaves out those of tiles that are not to be recorded. Once there is no room, and it may thin
  /// out, half of the tiles are discarded with their spans, if at least half of all spans are of tiles.
  void note_span(std::uint32_t name, std::optional<std::uint64_t> tile, Clock::time_point begin,
                 Clock::time_point end) noexcept override;
  /// Makes a timer that times each step by marks in the streams; docs/performance.md has its cost.
  std::unique_ptr<StepTimer> make_step_timer(Device& device, StepTimerOptions const& options) override;

  /// Adds to the time spent on recording; `note` itself does not.
  void spend(std::chrono::nanoseconds time) noexcept { spent_.fetch_add(time.count(), std::memory_order_relaxed); }

  std::uint64_t missed() const noexcept override {
    std::uint64_t const noted = next_.load(std::memory_order_relaxed);
    return noted > passages_.size() ? noted - passages_.size() : 0;
  }
  /// Returns the recording so far; later passages begin a new one. Rows are kept, but each thread that asks gets a new
  /// one.
  ///
  /// Threads: one, while no thread notes.
  Recording take();

 private:
  void note_or_thin_out(Passage const& passage) noexcept;
  bool thin_out() noexcept;
  void make_room_for_spans() noexcept;
  void discard_unwanted_spans() noexcept;
  void take_spans(Recording& taken);

  RecorderOptions const options_;
  std::atomic<std::uint64_t> every_;
  Clock::time_point start_ = Clock::now();
  std::mutex rows_mutex_;
  std::vector<RecordRow> rows_;
  std::map<std::thread::id, std::uint32_t> by_thread_;
  std::vector<Passage> passages_;  ///< The first `next_` entries are used.
  std::mutex thinning_mutex_;      ///< Locked for each passage, if the recorder may thin out.
  std::uint64_t noted_ = 0;        ///< Likewise.
  std::mutex spans_mutex_;         ///< Locked before `thinning_mutex_`.
  std::map<std::string, std::uint32_t, std::less<>> span_numbers_;
  std::vector<RecordedSpan> spans_;
  bool spans_are_full_ = false;  ///< There is no more room to be made.
  std::atomic<std::uint64_t> spans_missed_{0};
  std::atomic<std::int64_t> spent_{0};
  std::atomic<std::size_t> tiles_{0};
  alignas(64) std::atomic<std::uint64_t> next_{0};
};

/// A part of a program's own work under a name, from here to the end of the scope: in `fill` of a source, in a host
/// stage or a sink, or around the launches of a stage.
///
/// `Span const span(watching, "decode", tile.sequence);` tells the recorder and the ranges of `watching`. Traces and
/// timelines show it within the step of the tile, `span_table` sums it up, and NVTX has a range. If `watching` has
/// neither recorder nor ranges, two pointers are read. A job finds its `watching` in JobPoint::pipeline.
///
/// `name` may be any text. It is copied where something records, and may die once the constructor has returned; a
/// recorder keeps each different name, so there should be few. With `tile` it is recorded if that tile is; without, it
/// always is.
///
/// Threads: any; a span is its thread's own, and one that begins within another ends before it.
/// Blocks:  for a lock of the recorder, at both ends.
/// Throws:  nothing. Without memory, or room in the recorder, the span is missing.
class Span {
 public:
  explicit Span(Watching const& watching, std::string_view name, std::optional<std::uint64_t> tile = {}) noexcept
      : ranges_(watching.ranges), log_(watching.recorder), tile_(tile) {
    if (ranges_ != nullptr) ranges_->begin_span(name, tile);
    if (log_ == nullptr || (tile && !log_->wants(*tile))) return;
    name_ = log_->span_number(name);
    begin_ = Clock::now();
  }
  Span(Span const&) = delete;
  Span& operator=(Span const&) = delete;
  ~Span() {
    if (name_) log_->note_span(*name_, tile_, begin_, Clock::now());
    if (ranges_ != nullptr) ranges_->end_span();
  }

 private:
  Ranges* const ranges_;
  StepLog* const log_;
  std::optional<std::uint64_t> const tile_;
  std::optional<std::uint32_t> name_;
  Clock::time_point begin_;
};

}  // namespace penstock
