// SPDX-License-Identifier: Apache-2.0
// Recorder of the times of a run's tiles by step, and the ranges that profilers show.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "penstock/clock.hpp"

namespace penstock {

/// A step on a tile's way through the pipeline, in order.
enum class Step : std::uint8_t {
  borrow,    ///< A producer waits for a tile.
  fill,      ///< The source fills it.
  host,      ///< A host stage works on it.
  inbox,     ///< It waits for a lane, and for a slot.
  enqueue,   ///< The lane gives its work to the device.
  upload,    ///< The device copies it in.
  stage,     ///< The device computes.
  download,  ///< The device copies the result out.
  notice,    ///< It is done, but the lane does not know yet.
  deliver,   ///< It waits for its turn in the sink.
  sink,      ///< The sink has it.
};
inline constexpr std::size_t step_count = 11;

/// Name of a step: "borrow", "fill" and so on.
std::string_view step_name(Step step) noexcept;
/// True for the steps that a device does in a stream: upload, stage, download.
constexpr bool happens_on_device(Step step) noexcept {
  return step == Step::upload || step == Step::stage || step == Step::download;
}

/// A thread, stream or queue, which is a row of a trace.
struct RecordRow {
  enum class Kind : std::uint8_t {
    thread,  ///< A thread of the host.
    stream,  ///< A stream of a device.
    queue,   ///< Waiting tiles, several at once.
  };
  std::string name;
  Kind kind = Kind::thread;
  std::string engine = {};  ///< Engine of a stream's row that does its work, such as "GPU 0 upload".
};

/// The time of one tile in one step.
///
/// Units: nanoseconds since the recording began; device times are mapped to the host's clock.
struct Passage {
  std::uint64_t tile = 0;  ///< Sequence of the tile.
  std::uint32_t row = 0;   ///< Index in Recording::rows.
  Step step = Step::borrow;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// The data that a Recorder collected.
struct Recording {
  std::vector<RecordRow> rows;
  std::vector<Passage> passages;  ///< Passages in no order.
  std::size_t tiles = 0;          ///< Number of tiles of the pool; 0 if not known.
  std::uint64_t every = 1;        ///< Sampling: one in so many tiles was recorded.
  std::uint64_t noted = 0;        ///< Number of all passages, including those that were discarded.
  std::uint64_t missed = 0;       ///< Number of passages for which there was no room.
  /// Ends of the interval that was cut out of a longer recording: passages that reach them were longer.
  std::optional<std::int64_t> cut_from = {}, cut_to = {};
  std::int64_t spent = 0;  ///< Nanoseconds that threads spent on marks on the device.
};

static_assert(sizeof(Passage) == 32, "RecorderOptions says what a recording takes.");

struct RecorderOptions {
  std::size_t capacity = std::size_t{1} << 20;  ///< Maximum number of passages; each takes 32 bytes, allocated at
                                                /// construction.
  std::uint64_t every = 1;                      ///< Sampling: one in so many tiles is recorded.
  /// Once it is full, half of the tiles are discarded, and from then on half as many are recorded: for runs of any
  /// length. Otherwise the rest of the run is not recorded.
  bool thin_out = false;
};

/// Records the steps of tiles with their times. An object that can be recorded holds a pointer to a Recorder, or null.
///
/// Threads: any, except for `take`.
/// Blocks:  never, except for `add_row` and `row_here`, which take a lock; so does `note`, if it may thin out.
class Recorder {
 public:
  using Clock = penstock::Clock;

  /// Throws: Error of kind bad_argument, if `every` or the capacity is 0.
  explicit Recorder(RecorderOptions options = {});
  Recorder(Recorder const&) = delete;
  Recorder& operator=(Recorder const&) = delete;

  /// True if tile `sequence` is to be recorded: one in `every` of all tiles, in groups of sixteen in a row, the first
  /// group among them. In a row, because the first timed tile on a device behind untimed ones takes twice as many
  /// marks. Groups are not spaced by `every`, because then some of the alternating lanes would never be recorded.
  ///
  /// Source: Fibonacci hashing; Knuth, The Art of Computer Programming 3, 6.4. A thread that gets every n-th tile has
  ///         its share of the recorded tiles, and a tile that is wanted at a low rate is also wanted at a higher one.
  bool wants(std::uint64_t sequence) const noexcept {
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
  /// Sets the number of tiles of the pool.
  void set_tiles(std::size_t tiles) noexcept { tiles_.store(tiles, std::memory_order_relaxed); }
  std::uint32_t add_row(std::string name, RecordRow::Kind kind, std::string engine = {});
  /// The row of the calling thread, made at its first call with the name of the thread.
  std::uint32_t row_here();
  /// Records a passage. If there is no room, it is only counted.
  void note(std::uint32_t row, Step step, std::uint64_t tile, Clock::time_point begin, Clock::time_point end) noexcept;
  /// The same on the row of the calling thread. If there is no memory for that row, nothing is recorded.
  void note_here(Step step, std::uint64_t tile, Clock::time_point begin, Clock::time_point end) noexcept;

  /// Adds to the time spent on recording; `note` itself does not.
  void spend(std::chrono::nanoseconds time) noexcept { spent_.fetch_add(time.count(), std::memory_order_relaxed); }

  /// Number of passages so far for which there was no room.
  std::uint64_t missed() const noexcept {
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

  RecorderOptions const options_;
  std::atomic<std::uint64_t> every_;
  Clock::time_point start_ = Clock::now();
  std::mutex rows_mutex_;
  std::vector<RecordRow> rows_;
  std::map<std::thread::id, std::uint32_t> by_thread_;
  std::vector<Passage> passages_;  ///< The first `next_` entries are used.
  std::mutex thinning_mutex_;      ///< Locked for each passage, if the recorder may thin out.
  std::uint64_t noted_ = 0;        ///< Likewise.
  std::atomic<std::int64_t> spent_{0};
  std::atomic<std::size_t> tiles_{0};
  alignas(64) std::atomic<std::uint64_t> next_{0};
};

/// Shows a profiler the steps of threads while they run, with begin and end. An object that can show them holds a
/// pointer to a Ranges, or null.
///
/// Threads: any; a range is its thread's own, and one that begins within another ends before it.
class Ranges {
 public:
  virtual ~Ranges() = default;
  /// `tile` is its sequence; empty while there is none.
  virtual void begin(Step step, std::optional<std::uint64_t> tile) noexcept = 0;
  /// `step` is that of the range that began last and has not ended.
  virtual void end(Step step) noexcept = 0;
};

/// A range from here to the end of the scope; nothing if `ranges` is null.
class RangeHere {
 public:
  RangeHere(Ranges* ranges, Step step, std::optional<std::uint64_t> tile = {}) noexcept : ranges_(ranges), step_(step) {
    if (ranges_ != nullptr) ranges_->begin(step, tile);
  }
  RangeHere(RangeHere const&) = delete;
  RangeHere& operator=(RangeHere const&) = delete;
  ~RangeHere() {
    if (ranges_ != nullptr) ranges_->end(step_);
  }

 private:
  Ranges* ranges_;
  Step step_;
};

}  // namespace penstock
