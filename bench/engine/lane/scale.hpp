// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

/// y = 2x + 1 in place, on `count` floats: the kernel of these benches, small enough that its time does not matter.
///
/// False if CUDA refuses.
bool scale(float* values, std::size_t count, void* stream);
/// The same by a launch that names no stream.
bool scale_on_the_default_stream(float* values, std::size_t count);

/// The CUDA calls of a lane, written by hand: `threads` threads, each with streams of its own, keep `depth` tiles in
/// flight and ask the event behind the oldest. Runs `tiles` tiles in all.
///
/// `split`: three streams a thread ordered by events, else one. `default_stream`: the kernel, and with a single stream
/// the copies too, are on the thread's default stream. Tile k of thread t is at host + (t * depth + k) * bytes.
/// Returns seconds; negative if CUDA refuses.
double tiles_by_hand(std::byte* host, std::size_t bytes, unsigned threads, unsigned depth, std::uint64_t tiles,
                     bool split, bool default_stream);

/// A kernel of one thread that notes the GPU's time in pinned memory, as its last act.
bool note_time(std::uint64_t* stamp, void* stream);
/// Time by which the host's steady clock is ahead of the GPU's clock, in ns, and its uncertainty.
struct ClockOffset {
  std::int64_t ahead = 0;
  std::int64_t uncertain = 0;
};
ClockOffset clock_offset();

struct CUstream_st;
struct CUevent_st;

/// The minimum: a kernel, and a loop that asks the event behind it, or reads the number that the stream wrote behind
/// it.
class BareLoop {
 public:
  /// `pinned`: where the kernel notes the time.
  BareLoop(std::uint64_t* pinned, void* stream);
  BareLoop(BareLoop const&) = delete;
  BareLoop& operator=(BareLoop const&) = delete;
  ~BareLoop();
  /// Time from the end of a kernel, by the GPU's clock, to the loop's knowledge of it, by the host's; in ns.
  ///
  /// `write` asks the stream to write; `written` is true once it has. If both are empty the event is asked.
  std::int64_t next(std::function<void()> const& write, std::function<bool()> const& written);

 private:
  std::uint64_t* stamp_;
  CUstream_st* stream_;
  CUevent_st* event_ = nullptr;
};
