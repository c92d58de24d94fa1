// SPDX-License-Identifier: Apache-2.0
// Runs whose completed tiles wait until the program takes them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "penstock/ingest/files.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/report.hpp"
#include "penstock/stages.hpp"
#include "penstock/tile.hpp"

namespace penstock::c {

/// Completions in their order. There are at most as many as tiles, so it holds back nothing itself.
///
/// Threads: any.
class WaitingTiles {
 public:
  void put(Completion completion);
  /// The oldest; empty at the time limit, and once `ended` and all were taken.
  ///
  /// Blocks: until there is one, for so long at most; without a limit, until then.
  std::optional<Completion> take(std::optional<std::chrono::nanoseconds> at_most);
  /// No more come.
  void end() noexcept;
  /// True once no more come and all were taken.
  bool over() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Completion> waiting_;
  bool ended_ = false;
};

/// Files to read.
struct FilesToRead {
  std::vector<std::string> paths;
  FileSourceOptions options;
};

/// A run whose completions wait, from its begin to its report.
///
/// Threads: any; `drain` one.
class WaitingRun {
 public:
  /// Throws: as Pipeline::start, and what FileSource throws. What a run of files cannot have, `drain` throws.
  WaitingRun(Pipeline& pipeline, std::optional<FilesToRead> const& files, Stages stages);
  /// A run of a source of items of this name, in the plural. It is stopped by `stop`.
  WaitingRun(Pipeline& pipeline, std::unique_ptr<Source> source, std::string name, Stages stages,
             std::stop_source stop);
  WaitingRun(WaitingRun const&) = delete;
  WaitingRun& operator=(WaitingRun const&) = delete;
  /// Stops what runs.
  ///
  /// Blocks: until the last completion.
  ~WaitingRun();

  WaitingTiles& tiles() noexcept { return tiles_; }
  /// Throws: Error of kind bad_argument, if the program does not feed the run.
  void end_input();
  void stop() noexcept;
  /// Gives back what waits, until the run is over. Only once.
  ///
  /// Blocks: until the last completion.
  /// Throws: what the run threw.
  Report drain();
  bool drained() const noexcept { return drained_; }
  /// Throws: Error of kind bad_argument, if the input is no files.
  FileSource::Place place_of(Tile const& tile) const;
  /// Frees the source. Only once it is drained and no tile is lent.
  void drop_source() noexcept {
    files_ = nullptr;
    source_.reset();
  }
  /// The source; null for a run that the program feeds.
  Source const* source() const noexcept { return source_.get(); }

 private:
  void begin(Stages stages);
  void run(Stages const& stages) noexcept;
  void conclude() noexcept;
  Sink into_queue();

  Pipeline& pipeline_;
  std::stop_source stop_;
  WaitingTiles tiles_;
  std::unique_ptr<Source> source_;  ///< Null for a run that the program feeds.
  std::string const input_;         ///< What it is, in the plural.
  FileSource const* files_;         ///< Null if it is no files.
  std::atomic<bool> drained_{false};
  std::optional<Report> report_;
  std::exception_ptr problem_;
  std::mutex ending_;    ///< Guards `thread_` until the input has ended.
  std::jthread thread_;  ///< Of a run that the program feeds, from the end of its input on.
};

/// Stages that let tiles through: an output of their own gets the bytes of the first input.
///
/// Shape: not in place.
Stages pass_through(bool has_output);

}  // namespace penstock::c
