// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "course/timeline.hpp"
#include "penstock/report.hpp"

namespace penstock::lab {

/// Times of one kernel by the host's clock and by events.
struct ClocksSeen {
  bool over = false;                  ///< The kernel was over when the call to launch it had returned.
  std::chrono::nanoseconds launch{};  ///< Host time around the launch alone.
  std::chrono::nanoseconds behind{};  ///< Host time around launch and synchronize behind an earlier kernel as long.
  std::chrono::nanoseconds events{};  ///< Time between events around the same kernel.
};
/// Expects the launch to return before the kernel is over, and the host to see half a kernel more than events.
Verdict verdict_on_clocks(ClocksSeen const& seen);

/// Answers of `since`.
struct ElapsedSeen {
  int early = 0;                                      ///< Count of numbers while the device could not have passed both
                                                      ///< events.
  std::optional<std::chrono::nanoseconds> late = {};  ///< The number once it had passed both.
  bool refused = false;                               ///< An event without timing was refused.
};
/// Expects no number early, a number other than 0 late, and a refusal.
Verdict verdict_on_elapsed(ElapsedSeen const& seen);

/// Times between events.
struct EventSteps {
  std::optional<std::chrono::nanoseconds> shortest = {};  ///< The shortest that is not 0; none if all are 0.
  std::optional<std::chrono::nanoseconds> step = {};      ///< The smallest difference between two that differ; none if
                                                          ///< none do.
  bool negative = false;                                  ///< One of them is negative.
};
/// Times that differ by less than `alike` count as the same: CUDA gives them as a float of milliseconds.
EventSteps steps_of(std::vector<std::chrono::nanoseconds> times,
                    std::chrono::nanoseconds alike = std::chrono::nanoseconds(4));
/// Expects times that differ, by a step of at most a microsecond, and none below 0.
Verdict verdict_on_event_steps(EventSteps const& seen);

/// What a wait is for, or what was over: the kernel of stream A, the event in stream B, and all of B.
struct Reach {
  bool a = false;
  bool event = false;
  bool b = false;

  bool operator==(Reach const&) const = default;
  bool covers(Reach const& other) const noexcept {
    return (a || !other.a) && (event || !other.event) && (b || !other.b);
  }
  /// "A, the event", or "nothing".
  std::string text() const;
};
/// A wait: what should be over when its call returns, and when A goes on, and what was.
struct WaitSeen {
  std::string way;
  Reach returns_behind;
  Reach goes_on_behind;
  Reach at_return = {};
  Reach at_going_on = {};
};
/// Expects that each wait is for what it names, and for nothing else.
Verdict verdict_on_waits(std::span<WaitSeen const> seen);

/// Results that should all have one value.
struct RaceResults {
  std::size_t wrong = 0;
  float seen = 0;  ///< The first wrong value.
};
/// Results of the same work without the event that orders it, and with it.
struct RaceSeen {
  std::size_t all = 0;
  float right = 0;
  RaceResults without;
  RaceResults with;
};
/// Expects wrong results without it and none with it.
Verdict verdict_on_race(RaceSeen const& seen);

/// A loop that allocates and frees in the order of a stream that is held.
struct OrderedMemorySeen {
  bool over = false;                 ///< The stream was done when the loop was.
  std::chrono::nanoseconds waits{};  ///< Time that a loop with memory of the device waited before it freed.
  std::chrono::nanoseconds loop{};   ///< Time that the host needed for all of the loop in order.
  std::size_t wrong = 0;             ///< Results of both,
  std::size_t all = 0;               ///< out of so many.
};
/// Expects that the loop in order waited for nothing, and all results right.
Verdict verdict_on_ordered_memory(OrderedMemorySeen const& seen);

/// The first call that reported a fault of the device.
struct LateErrorSeen {
  std::string by;             ///< Its name; empty if none did.
  std::string by_with_waits;  ///< The same, if the host waits behind each call.
  bool lost = false;          ///< It said that the device is lost.
  bool names_cause = false;   ///< It said why.
  bool blocking = false;      ///< Each launch waits for its kernel (CUDA_LAUNCH_BLOCKING=1).
};
/// Expects that only the call to synchronize reports it, with the reason; and the second launch, which fails, if the
/// host or each launch waits.
Verdict verdict_on_late_error(LateErrorSeen const& seen);

/// Kernels in two streams, and whether each launch had to wait for its kernel.
struct BlockingSeen {
  bool wanted = false;    ///< The process was asked to (CUDA_LAUNCH_BLOCKING=1).
  unsigned over = 0;      ///< Number of kernels that were over when their launch had returned.
  bool together = false;  ///< The two ran at once.
};
/// Expects both over and never at once if that is wanted, else neither over and both at once.
Verdict verdict_on_blocking(BlockingSeen const& seen);

/// Expects a verdict of the library which says, for this reason, that more streams would not help.
Verdict verdict_on_no_help(penstock::Verdict const& seen, NoStreams expected);

/// Copies of memory on one NUMA node.
///
/// Units: bytes in a second.
struct NodeCopies {
  int node = 0;
  std::optional<bool> near = {};  ///< It is the device's own; empty if that is not known.
  double up = 0;
  double down = 0;
};
/// Expects that no far node is faster than a near one, by a tenth.
Verdict verdict_on_nodes(std::span<NodeCopies const> seen);

/// Copies by themselves, and beside kernels that fill the device.
///
/// Units: bytes in a second.
struct CopiesBesideSeen {
  double alone = 0;
  double by_memory = 0;      ///< Rate beside kernels that memory bounds.
  double by_arithmetic = 0;  ///< Rate beside kernels that arithmetic bounds.
  bool beside = true;        ///< Copies and kernels ran at the same time.
};
/// Expects that they did.
Verdict verdict_on_copies_beside(CopiesBesideSeen const& seen);

/// A kernel with its operations for each byte that it reads or writes, and its time.
struct RooflinePoint {
  double flops_per_byte = 0;
  std::chrono::nanoseconds time{};
};
/// All these points have the same bytes, and each has more operations than the one before it.
///
/// Units: bytes and operations in a second, by the first and by the last.
struct Roofline {
  double memory = 0;
  double arithmetic = 0;
  std::size_t memory_bound = 0;      ///< Number of points, from the first on, that take as long as the first, to a
                                     ///< quarter.
  std::size_t arithmetic_bound = 0;  ///< Number of points, up to the last, that do as many operations a second as the
                                     ///< last, to a fifth.
  double meet() const { return arithmetic / memory; }
};
/// Shape: three points at least.
Roofline roofline_of(std::span<RooflinePoint const> points, double bytes);
/// Expects all results right and the last kernel to take twice as long as the first; if times count, also that memory
/// bounds two and arithmetic two.
Verdict verdict_on_roofline(std::span<RooflinePoint const> points, double bytes, std::size_t wrong, bool timed);

/// A matrix product as predicted by a data sheet, as its bounds allow, which were measured, and as measured.
struct ProductSeen {
  std::string name;
  std::optional<std::chrono::nanoseconds> predicted = {};
  std::chrono::nanoseconds possible{};
  std::chrono::nanoseconds measured{};
  double flops = 0;
  std::uint32_t depth = 0;  ///< Number of products in each sum, of numbers of at most 1.
  double greatest_error = 0;
};
/// Expects small errors; if times count, also that none was faster than predicted or possible, to a tenth, and that the
/// last is nearer to what is possible than the first.
///
/// Shape: at least two.
Verdict verdict_on_products(std::span<ProductSeen const> products, bool timed);

/// Rounds by a launch each, and by one with a barrier.
struct GridBarrierSeen {
  bool refused = false;                    ///< A launch of more blocks than fit was refused.
  std::size_t wrong = 0;                   ///< Results of both,
  std::size_t all = 0;                     ///< out of so many.
  std::chrono::nanoseconds by_launches{};  ///< Time of a round with a launch of its own,
  std::chrono::nanoseconds by_barriers{};  ///< and of one behind a barrier.
  /// A kernel of another stream that was given meanwhile began when the one with barriers had ended; empty if that
  /// could not be seen.
  std::optional<bool> other_waited = {};
};
/// Expects all results right, the refusal, and that the kernel of the other stream waited.
Verdict verdict_on_grid_barrier(GridBarrierSeen const& seen);

}  // namespace penstock::lab
