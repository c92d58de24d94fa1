// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <new>
#include <optional>
#include <vector>

#include "engine/core/event_count.hpp"
#include "engine/lane/lane_options.hpp"
#include "engine/lane/path_chooser.hpp"
#include "engine/lane/patience.hpp"
#include "penstock/clock.hpp"
#include "penstock/device.hpp"

namespace penstock {

/// The events of one slot that order the three steps of a batch and say that it has landed.
struct FlightEvents {
  /// `more_inputs` is the number of inputs that tiles have beside the first.
  FlightEvents(Device& device, bool split, std::size_t more_inputs, EventOptions options = {});

  std::optional<Event> uploaded;  ///< Set, like the next, only where streams are split.
  std::optional<Event> computed;
  std::vector<Event> more_uploaded;  ///< One for each further input that tiles have, where streams are split.
  Event landed;
};

/// The streams of one lane: where each step of a batch goes, how one stream waits for another, and how the lane waits
/// for them.
///
/// Invariant: a batch that is joined by `join_uploads` and `join_stage` is downloaded behind its stage, and computed
///            behind all its uploads. What the lane waits for is asked and not waited for in the device, since nothing
///            can call a thread back from such a wait.
/// Threads:   the lane's.
class LaneStreams {
 public:
  /// `more_inputs` is the number of inputs that tiles have beside the first.
  ///
  /// Throws: Error, if the device refuses.
  LaneStreams(Device& device, FlightOptions const& options, std::size_t more_inputs);
  LaneStreams(LaneStreams const&) = delete;
  LaneStreams& operator=(LaneStreams const&) = delete;

  /// True if each step has a stream of its own.
  bool split() const noexcept { return split_; }
  StreamRef compute() const noexcept { return compute_; }
  StreamRef upload() const noexcept { return upload_; }
  StreamRef download() const noexcept { return download_; }
  /// The upload stream of further input `which`, 0 for the second.
  StreamRef more_upload(std::size_t which) const noexcept {
    return split_ ? StreamRef(own_more_uploads_[which]) : upload_;
  }
  /// Priority of the compute stream: a thread's default stream has the least.
  int compute_priority() const noexcept { return compute_priority_; }
  /// True if the steps on that path are in three streams, which wait for each other.
  bool across(TransferPath path) const noexcept { return split_ && path == TransferPath::copied; }
  /// The stream of the last step on that path.
  StreamRef last(TransferPath path) const noexcept { return path == TransferPath::copied ? download_ : compute_; }

  /// Lets the stage wait, on the device, until every input is there. Call it only where streams are split.
  void join_uploads(FlightEvents const& events) const;
  /// Lets the download wait for the stage. Call it only where streams are split.
  void join_stage(FlightEvents const& events) const;
  /// The step of a batch that has not landed: "upload", "stage" or "download"; "device" if nothing tells.
  char const* step_of(FlightEvents const& events, TransferPath path) const noexcept;

  /// Asks `passed()` until it says so. False if the lane's patience runs out first. An answer that the device refuses
  /// is asked for again.
  ///
  /// Throws: a sticky Error, also where the device is lost and does not say so in its answer.
  template <class Passed>
  bool await(Passed passed) const;
  /// Waits for what is in the stream now, not for what others may put there later: other threads may share the stream.
  /// If that cannot be marked, for example for lack of memory, waits for a moment at which the stream is empty.
  ///
  /// Throws: as `await`, and returns the same.
  bool wait_idle(StreamRef stream);
  /// Waits likewise for all of them, one after the other.
  bool wait_idle();
  /// Waits in the device for all of them, for a device that is lost: it answers no question, and its work runs to its
  /// end.
  ///
  /// Blocks: until then, or until the device is abandoned.
  void synchronize() const noexcept;
  /// Keeps a lost device from calling back from the streams, as StreamRef::drop_calls.
  void drop_calls() const;

 private:
  Device& device_;
  std::chrono::nanoseconds const patience_;
  bool const split_;
  std::optional<Stream> own_compute_;
  std::optional<Stream> own_upload_;
  std::optional<Stream> own_download_;
  std::vector<Stream> own_more_uploads_;  ///< Streams of the further inputs, where they are split.
  int const compute_priority_;
  StreamRef const compute_;
  StreamRef const upload_;    ///< The compute stream, unless they are split.
  StreamRef const download_;  ///< The compute stream, unless they are split.
  Event idle_mark_;           ///< Recorded where the lane waits for a stream.
};

template <class Passed>
bool LaneStreams::await(Passed passed) const {
  constexpr std::chrono::microseconds between_looks{150};
  EventCount never;
  Patience patience(patience_, between_looks, Clock::now());
  auto const answer = [&] {
    try {
      return passed();
    } catch (Error const& error) {
      if (error.sticky()) throw;
      // A device may be gone and not say so in each answer, for example a GPU that the application has reset.
      if (auto const loss = device_.lost()) throw Error(*loss);
    } catch (std::bad_alloc const&) {
    }
    return false;  // The device is asked again.
  };
  while (!never.await(answer, std::chrono::microseconds(100), between_looks)) {
    if (patience.runs_out(Clock::now())) return false;
  }
  return true;
}

}  // namespace penstock
