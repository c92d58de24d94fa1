// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "engine/core/number_text.hpp"
#include "engine/core/own_process.hpp"
#include "engine/core/pool.hpp"
#include "penstock/records/windows.hpp"
#include "records/windows/due_thread.hpp"
#include "records/windows/fed_tiles.hpp"
#include "records/windows/open_windows.hpp"

namespace penstock {
namespace {

/// Replaces defaults in the options by numbers.
TimeWindowsOptions resolved(TimeWindowsOptions options, Pipeline& pipeline) {
  expect_option(options.length > 0, "Windows have no length: say TimeWindowsOptions::length, in the unit of times.");
  expect_option(options.lateness >= 0 && options.most_ahead >= 0, "lateness and most_ahead are not below 0.");
  expect_option(options.streams != 0, "There is at least one stream.");
  std::int64_t const whole = options.lateness / options.length;
  std::size_t const spanned = static_cast<std::size_t>(whole) + (options.lateness % options.length != 0 ? 1 : 0);
  if (options.most_open == 0) options.most_open = spanned + 1;
  std::size_t const tiles = pipeline.pool().size();
  expect_option(options.most_open < tiles, std::to_string(options.most_open) +
                                               " windows that are open need as many tiles and one more: the pipeline "
                                               "has " +
                                               std::to_string(tiles) + ". Give it more (Tuning::tiles).");
  TileShape const& shape = pipeline.pool().shape();
  expect_option(shape.input_bytes != 0 && shape.more_input_bytes[0] >= sizeof(WindowOfTile),
                "Tiles need room for records, and a second input of sizeof(WindowOfTile), " +
                    std::to_string(sizeof(WindowOfTile)) + " bytes.");
  options.deadline = std::clamp<std::chrono::microseconds>(options.deadline, {}, longest_wait);
  return options;
}

}  // namespace

WindowOfTile window_of(Tile const& tile) {
  auto const bytes = tile.filled_input(1);
  WindowOfTile window;
  expect_option(bytes.size() == sizeof window, "The tile has no window: it is not of a TimeWindows.");
  std::memcpy(&window, bytes.data(), sizeof window);
  return window;
}

std::string describe(TimeWindowsCounts const& counts) {
  return "Of " + count_text(counts.received(), "record") + " that came " + std::to_string(counts.placed) +
         " are in their windows, " + std::to_string(counts.late) + " were late, " + std::to_string(counts.refused) +
         " refused and " + std::to_string(counts.wrong_size) + " of a wrong size.";
}

/// The implementation of TimeWindows.
class TimeWindows::Parts {
 public:
  Parts(Pipeline& pipeline, TimeWindowsOptions asked)
      : options_(resolved(std::move(asked), pipeline)),
        tiles_(pipeline),
        windows_(options_, pipeline.pool().shape().input_bytes,
                 [this](Loan loan) { return tiles_.send(std::move(loan)); }) {
    due_.emplace("ps-windows", [this](Clock::time_point now) {
      std::lock_guard const lock(mutex_);
      return windows_.close_overdue(now);
    });
  }
  ~Parts() {
    due_.reset();
    flush();
  }

  Windowed add(std::size_t stream, std::int64_t time, std::span<std::byte const> record) {
    if (stream >= options_.streams) {
      throw Error(ErrorKind::bad_argument, "There is no stream " + std::to_string(stream) +
                                               ": TimeWindowsOptions says " + std::to_string(options_.streams) +
                                               " streams.");
    }
    Windowed const became = place(stream, time, record);
    if (became == Windowed::late && options_.late) options_.late(time, record);
    return became;
  }
  void flush() noexcept {
    std::lock_guard const lock(mutex_);
    windows_.flush();
  }
  TimeWindowsCounts counts() const {
    std::lock_guard const lock(mutex_);
    return windows_.counts();
  }

  OwnProcess const process;

 private:
  Windowed place(std::size_t stream, std::int64_t time, std::span<std::byte const> record) {
    Loan spare;
    std::unique_lock lock(mutex_);
    auto became = windows_.add(stream, time, record, spare, {});
    if (became) return *became;
    // Borrows without the lock, since the thread that closes windows needs that.
    lock.unlock();
    spare = tiles_.borrow();
    lock.lock();
    became = windows_.add(stream, time, record, spare, Clock::now());
    lock.unlock();
    due_->wake();
    return *became;
  }

  TimeWindowsOptions const options_;
  FedTiles const tiles_;
  mutable std::mutex mutex_;
  OpenWindows windows_;
  std::optional<DueThread> due_;
};

TimeWindows::TimeWindows(Pipeline& pipeline, TimeWindowsOptions options)
    : parts_(std::make_unique<Parts>(pipeline, std::move(options))) {}

TimeWindows::~TimeWindows() {
  left_to_parent(parts_);
}

Windowed TimeWindows::add(std::size_t stream, std::int64_t time, std::span<std::byte const> record) {
  return parts_->add(stream, time, record);
}

void TimeWindows::flush() noexcept {
  parts_->flush();
}

TimeWindowsCounts TimeWindows::counts() const {
  return parts_->counts();
}

}  // namespace penstock
