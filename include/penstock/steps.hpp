// SPDX-License-Identifier: Apache-2.0
// The steps of a tile's way, and what is told of them while a run is under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/clock.hpp"

namespace penstock {

class Device;
class StepTimer;
struct StepTimerOptions;

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
    thread,  ///< A thread of the host.
    stream,  ///< A stream of a device.
    queue,   ///< Tiles that wait; several at once.
  };
  std::string name;
  Kind kind = Kind::thread;
  std::string engine = {};  ///< Part of the device that does the work of a stream's row, as "GPU 0 upload".
};

/// Is told when tiles were where. An object that is asked to record holds a pointer to a StepLog, or null; Recorder
/// (observe.hpp) is the one of penstock's own.
///
/// Threads: any.
/// Blocks:  never, but for `add_row` and `row_here`, which may take a lock, and where it says so.
class StepLog {
 public:
  using Clock = penstock::Clock;

  StepLog() = default;
  StepLog(StepLog const&) = delete;
  StepLog& operator=(StepLog const&) = delete;
  virtual ~StepLog() = default;

  /// True if tile `sequence` is one to look at. A tile that is wanted when fewer are is also wanted when more are.
  virtual bool wants(std::uint64_t sequence) const noexcept = 0;
  /// Sets the number of tiles of the pool.
  virtual void set_tiles(std::size_t tiles) noexcept = 0;
  virtual std::uint32_t add_row(std::string name, RecordRow::Kind kind, std::string engine = {}) = 0;
  /// The row of the calling thread, made at its first call, with the name of the thread.
  virtual std::uint32_t row_here() = 0;
  /// Notes a passage. Without room it is counted and not kept.
  virtual void note(std::uint32_t row, Step step, std::uint64_t tile, Clock::time_point begin,
                    Clock::time_point end) noexcept = 0;
  /// The same on the row of the calling thread. If there is no memory for that row, nothing is noted.
  virtual void note_here(Step step, std::uint64_t tile, Clock::time_point begin, Clock::time_point end) noexcept = 0;
  /// The number of a span's name (Span, observe.hpp), which it copies; empty without room for it.
  ///
  /// Blocks: for a lock.
  virtual std::optional<std::uint32_t> span_number(std::string_view name) noexcept = 0;
  /// Notes a span on the row of the calling thread, by the number of its name. Without room it is counted and not kept.
  ///
  /// Blocks: for a lock.
  virtual void note_span(std::uint32_t name, std::optional<std::uint64_t> tile, Clock::time_point begin,
                         Clock::time_point end) noexcept = 0;
  /// Passages so far for which there was no room.
  virtual std::uint64_t missed() const noexcept = 0;
  /// Takes the times of the steps of one flight (engine/lane/step_timer.hpp), and tells this log; null for none.
  ///
  /// Blocks: some 100 us.
  /// Throws: Error, if the device refuses.
  virtual std::unique_ptr<StepTimer> make_step_timer(Device& device, StepTimerOptions const& options) = 0;
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
  /// The same of a span under a name of the program's own (Span, observe.hpp). By default it is not shown.
  ///
  /// Shape: `name` is valid during the call.
  virtual void begin_span(std::string_view /*name*/, std::optional<std::uint64_t> /*tile*/) noexcept {}
  virtual void end_span() noexcept {}
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
