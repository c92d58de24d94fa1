// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/lane/lane_streams.hpp"
#include "engine/lane/path_chooser.hpp"
#include "engine/lane/step_timer.hpp"
#include "penstock/observe.hpp"

namespace penstock {

/// Tells a Recorder when the tiles of a flight were uploaded, computed and downloaded, and brings these times to the
/// host's clock. What it says of a tile holds for a batch of them, which has one set of events.
///
/// A step's end is the event that the next step waits for, made so that it keeps the time; where all steps are in one
/// stream, a mark between two. A step begins once the stream is through with the tile before, once the step before is
/// through, and once the lane asks for it, whichever comes last. Where the tile before is not timed, or others use the
/// stream, a mark says when the stream got there. So a timed tile behind another takes no more marks than the flight
/// needs anyway if streams are split, and two more if not.
///
/// The time that a step waits for its engine, while other streams have it, counts as part of the step.
///
/// The two clocks drift apart. So at times a mark in a stream of its own, which holds nothing else, says what the
/// device's clock shows at a moment between two that the host knows. Only a drift beyond these two is taken back, and
/// no step of a lane begins before the step before it in its stream has ended. A tile that would be through before it
/// was asked for, or after it was seen to be through, moves the clocks together at once.
///
/// Threads: the lane's.
class FlightClock final : public StepTimer {
 public:
  static constexpr std::chrono::nanoseconds usual_reach = std::chrono::milliseconds(500);

  /// Makes the events of all slots and a stream, and reads the device's clock against the host's.
  ///
  /// `reach`: how far from the anchor times are taken: a GPU's event times have 24 bits, so 500 ms to 30 ns. Also how
  /// long the two clocks may run without a comparison; in that time the clocks of a GPU and its host part by some 25
  /// us.
  ///
  /// Blocks: some 100 us.
  /// Throws: Error, if the device refuses.
  FlightClock(Device& device, Recorder& recorder, StepTimerOptions const& options,
              std::chrono::nanoseconds reach = usual_reach);

  bool wants(std::uint64_t sequence) const noexcept override { return recorder_.wants(sequence); }
  FlightEvents& open(std::size_t slot, std::uint64_t oldest, std::uint64_t youngest,
                     TransferPath path) noexcept override;
  void begin(std::size_t slot, Step step, StreamRef stream) override;
  void begin_more(std::size_t slot, std::size_t which, StreamRef stream) override;
  /// Shares out the time of a step among the tiles of its batch in equal parts, one after the other, since events tell
  /// no more.
  void note(std::size_t slot, std::span<std::optional<std::uint64_t> const> sequences) override;
  void pass(std::size_t slot) override;

 private:
  using Clock = Recorder::Clock;
  static constexpr std::size_t steps = 3;
  static constexpr std::size_t last = steps - 1;
  using Moments = std::array<Clock::time_point, steps>;
  struct Times {
    Times(Device& device, StepTimerOptions const& options);
    FlightEvents events;
    std::array<Event, steps> begins;  ///< With one stream the second and third are the ends of the steps before.
    std::array<bool, steps> marked{};
    Moments asked;                              ///< Times at which the lane gave each step to the device.
    std::vector<Event> more_begins;             ///< Beginnings of the uploads of further inputs, if streams are split,
    std::vector<Clock::time_point> more_asked;  ///< and when the lane asked for them.
    std::uint64_t number = 0;                   ///< Number of the youngest tile.
    bool whole = true;                          ///< No mark was refused.
    bool mapped = false;                        ///< It has no step but the stage.
  };
  static constexpr std::size_t stage = 1;
  static bool has(Times const& times, std::size_t step) noexcept { return step == stage || !times.mapped; }
  static std::size_t index_of(Step step) noexcept {
    return static_cast<std::size_t>(step) - static_cast<std::size_t>(Step::upload);
  }
  void compare_clocks(Clock::time_point now);
  void ask_for_anchor();
  Clock::time_point host_time(EventRef mark) const;
  Moments told_ends(Times const& times) const;
  void hold_to_the_hosts(Times const& times, Moments& told, Clock::time_point seen);
  Moments ends_of(Times const& times, Moments const& told) const;
  Clock::time_point free_since(std::size_t step) const;
  Moments begins_of(Times const& times, Moments const& ends) const;
  static Clock::time_point end_of(Times const& times, Moments const& ends) noexcept {
    return ends[times.mapped ? stage : last];
  }
  Clock::time_point more_uploads_end(Times const& times) const;
  void note_more(Times const& times, std::uint64_t sequence, Clock::rep place, Clock::rep tiles,
                 Clock::time_point stage_begins);
  void note_share(std::uint32_t row, Step step, std::uint64_t sequence, Clock::time_point begin, Clock::time_point end,
                  Clock::rep place, Clock::rep tiles);
  void close(Times& times, Moments const& ends);

  Recorder& recorder_;
  StepTimerOptions const options_;
  std::chrono::nanoseconds const reach_;
  std::array<std::uint32_t, steps> rows_{};
  std::vector<std::uint32_t> more_rows_;  ///< Rows of the uploads of further inputs, if streams are split.
  std::uint32_t notice_row_ = 0;
  std::vector<std::unique_ptr<Times>> slots_;
  std::uint64_t opened_ = 0;  ///< The number of the last tile that was begun.
  std::uint64_t closed_ = 0;  ///< The number of the last tile with known ends, which `ends_` holds.
  Moments ends_{};
  /// A moment on both clocks. Event times far from it lose digits, so it moves along.
  Event anchor_;
  Clock::time_point anchored_;
  Stream idle_;  ///< Stream for marks that the device passes at once.
  Event next_anchor_;
  Clock::time_point compared_;  ///< Time at which it was last put there.
  bool awaited_ = false;        ///< The device is not known to have passed it.
};

}  // namespace penstock
