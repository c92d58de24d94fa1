// SPDX-License-Identifier: Apache-2.0
// When each tile of a run was where, and what profilers are shown.
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

/// A part of a tile's way, in the order of the way.
enum class Step : std::uint8_t {
  borrow,    ///< A producer waits for a tile.
  fill,      ///< The source fills it.
  host,      ///< A host stage works on it.
  inbox,     ///< It waits for a lane, and for a slot.
  enqueue,   ///< The lane gives its work to the device.
  upload,    ///< The device copies it in.
  stage,     ///< The device computes.
  download,  ///< The device copies the result out.
  notice,    ///< It is done, and the lane has not heard yet.
  deliver,   ///< It waits for its turn in the sink.
  sink,      ///< The sink has it.
};
inline constexpr std::size_t step_count = 11;

/// "borrow", "fill" and so on.
std::string_view step_name(Step step) noexcept;
/// True for what a device does, in a stream: upload, stage, download.
constexpr bool happens_on_device(Step step) noexcept {
  return step == Step::upload || step == Step::stage || step == Step::download;
}

/// A thread, stream or queue that does things one after the other.
struct RecordRow {
  enum class Kind : std::uint8_t {
    thread,  ///< Of the host.
    stream,  ///< Of a device.
    queue,   ///< Tiles that wait; several at once.
  };
  std::string name;
  Kind kind = Kind::thread;
  std::string engine = {};  ///< Of a stream's row: what of the device does what is on it, such as "GPU 0 upload".
};

/// When one tile was in one step.
///
/// Units: nanoseconds since the recording began; device times are mapped to the host's clock.
struct Passage {
  std::uint64_t tile = 0;  ///< Its sequence.
  std::uint32_t row = 0;   ///< In Recording::rows.
  Step step = Step::borrow;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// What a Recorder saw.
struct Recording {
  std::vector<RecordRow> rows;
  std::vector<Passage> passages;  ///< In no order.
  std::size_t tiles = 0;          ///< Of the pool; 0 if not known.
  std::uint64_t every = 1;        ///< Of the tiles one in so many was looked at.
  std::uint64_t noted = 0;        ///< Passages in all, with those that were forgotten.
  std::uint64_t missed = 0;       ///< Passages for which there was no room any more.
  /// Where it was cut out of a longer one: passages that reach these were longer.
  std::optional<std::int64_t> cut_from = {}, cut_to = {};
  std::int64_t spent = 0;  ///< Nanoseconds of the threads' time that went into marks on the device.
};

static_assert(sizeof(Passage) == 32, "RecorderOptions says what a recording takes.");

struct RecorderOptions {
  std::size_t capacity = std::size_t{1} << 20;  ///< Passages; each takes 32 bytes, all of them from the start.
  std::uint64_t every = 1;                      ///< One in so many tiles is looked at.
  /// Once there is no room any more, half of the tiles are forgotten, and from then on half as many are looked at: for
  /// runs of any length. Else the rest of the run is missed.
  bool thin_out = false;
};

/// Notes where tiles were, and when. An object that is asked to record holds a pointer to a Recorder, or null.
///
/// Threads: any, but for `take`.
/// Blocks:  never, but for `add_row` and `row_here`, which take a lock; so does `note`, if it may thin out.
class Recorder {
 public:
  using Clock = penstock::Clock;

  /// Throws: Error of kind bad_argument, if `every` or the capacity is 0.
  explicit Recorder(RecorderOptions options = {});
  Recorder(Recorder const&) = delete;
  Recorder& operator=(Recorder const&) = delete;

  /// True if tile `sequence` is one to look at: of all one in `every`, sixteen in a row, the first among them. In a
  /// row, because the first tile that is timed on a device behind tiles that are not takes twice as many marks. Not the
  /// rows that `every` divides, because then some of the lanes that take turns would never be looked at.
  ///
  /// Source: Fibonacci hashing; Knuth, The Art of Computer Programming 3, 6.4. A thread that gets every n-th tile has
  /// its share of the tiles to look at, and a tile that is wanted when fewer are is also wanted when more are.
  bool wants(std::uint64_t sequence) const noexcept {
    constexpr std::uint64_t in_a_row = 16;
    constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15U;
    // Relaxed: a thread that reads the old number notes what is forgotten later.
    return sequence / in_a_row * golden <=
           std::numeric_limits<std::uint64_t>::max() / every_.load(std::memory_order_relaxed);
  }
  /// That moment in the recording.
  ///
  /// Units: nanoseconds since the recorder was made.
  std::int64_t since_start(Clock::time_point time) const noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time - start_).count();
  }
  /// How many tiles the pool has that they come from.
  void set_tiles(std::size_t tiles) noexcept { tiles_.store(tiles, std::memory_order_relaxed); }
  std::uint32_t add_row(std::string name, RecordRow::Kind kind, std::string engine = {});
  /// The row of the calling thread, made at its first call, with the name of the thread.
  std::uint32_t row_here();
  /// What comes when there is no room any more is counted and not kept.
  void note(std::uint32_t row, Step step, std::uint64_t tile, Clock::time_point begin, Clock::time_point end) noexcept;
  /// The same on the row of the calling thread. If there is no memory for that row, nothing is noted.
  void note_here(Step step, std::uint64_t tile, Clock::time_point begin, Clock::time_point end) noexcept;

  /// Adds to the time that was spent on recording, beside that of `note` itself.
  void spend(std::chrono::nanoseconds time) noexcept { spent_.fetch_add(time.count(), std::memory_order_relaxed); }

  /// Passages so far for which there was no room.
  std::uint64_t missed() const noexcept {
    std::uint64_t const noted = next_.load(std::memory_order_relaxed);
    return noted > passages_.size() ? noted - passages_.size() : 0;
  }
  /// What was noted so far; what comes later is noted anew. Rows stay, but each thread that asks gets a new one.
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
  std::vector<Passage> passages_;  ///< The first `next_` of them are used.
  std::mutex thinning_mutex_;      ///< Held for each passage, if the recorder may thin out.
  std::uint64_t noted_ = 0;        ///< Likewise.
  std::atomic<std::int64_t> spent_{0};
  std::atomic<std::size_t> tiles_{0};
  alignas(64) std::atomic<std::uint64_t> next_{0};
};

/// What a profiler is shown of the threads while they run: from when to when each is in a step. An object that is asked
/// to show it holds a pointer to a Ranges, or null.
///
/// Threads: any; a range is its thread's own, and one that begins within another ends before it.
class Ranges {
 public:
  virtual ~Ranges() = default;
  /// `tile`: its sequence; empty while it has none.
  virtual void begin(Step step, std::optional<std::uint64_t> tile) noexcept = 0;
  /// `step`: that of the range that began last and has not ended.
  virtual void end(Step step) noexcept = 0;
};

/// A range from here to the end of the scope; none, if `ranges` is null.
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
