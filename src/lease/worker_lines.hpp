// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "engine/core/descriptor.hpp"

namespace penstock {

/// Reads what workers print and passes it on, in whole lines.
///
/// Threads: any; the functions are called by one of its own, "ps-lines".
class WorkerLines {
 public:
  /// `output` and `complaint` get one or more whole lines, each with its line break, of one worker.
  struct To {
    std::function<void(std::string_view lines)> output;
    std::function<void(unsigned place, std::string_view lines)> complaint;
  };

  /// Throws: Error of kind system, if there is no thread or no descriptor.
  explicit WorkerLines(To to);
  WorkerLines(WorkerLines const&) = delete;
  WorkerLines& operator=(WorkerLines const&) = delete;
  /// Passes on what is left in the pipes.
  ///
  /// Blocks: as the functions do.
  ~WorkerLines();

  /// Reads these pipes, which it closes, from now on.
  void add(unsigned place, int output, int complaint);
  /// The worker has ended: what is left in its pipes is passed on, and they are closed, also if others still have them.
  /// An output that was `cut` ends at its last whole line.
  void end(unsigned place, bool cut);
  /// True while a function takes lines.
  bool passes_on() const noexcept { return passing_on_.load(std::memory_order_relaxed); }

 private:
  struct Stream {
    Stream(unsigned of, bool output, int pipe) : place(of), is_output(output), from(pipe) {}

    unsigned const place;
    bool const is_output;
    Descriptor from;
    std::string rest;    ///< The beginning of a line.
    bool ended = false;  ///< Its worker has.
    bool cut = false;
    bool done = false;
  };

  void work();
  void finish(Stream& stream);
  void read_from(Stream& stream, bool to_the_end);
  void pass_on(Stream& stream, std::size_t bytes);
  void wake() const noexcept;

  To const to_;
  Descriptor const woken_;
  std::atomic<bool> passing_on_{false};
  std::mutex mutex_;
  std::list<Stream> streams_;  ///< The mutex guards the list, `ended` and `cut`; the rest is its thread's.
  bool ending_ = false;
  std::jthread thread_;
};

}  // namespace penstock
