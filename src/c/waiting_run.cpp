// SPDX-License-Identifier: Apache-2.0
#include "c/waiting_run.hpp"

#include <algorithm>
#include <utility>

#include <pthread.h>

namespace penstock::c {
namespace {

std::unique_ptr<FileSource> source_of(Pipeline& pipeline, std::optional<FilesToRead> const& files,
                                      std::stop_token const& stop) {
  if (!files) return nullptr;
  FileSourceOptions options = files->options;
  options.stop = stop;
  return std::make_unique<FileSource>(files->paths, pipeline.pool(), options);
}

}  // namespace

void WaitingTiles::put(Completion completion) {
  {
    std::scoped_lock const lock(mutex_);
    waiting_.push_back(std::move(completion));
  }
  changed_.notify_one();
}

std::optional<Completion> WaitingTiles::take(std::optional<std::chrono::nanoseconds> at_most) {
  std::unique_lock lock(mutex_);
  auto const comes = [&] { return !waiting_.empty() || ended_; };
  // A deadline beyond what the clock counts is no limit.
  constexpr std::chrono::hours years{24 * 365};
  at_most&&* at_most < years ? void(changed_.wait_for(lock, *at_most, comes)) : changed_.wait(lock, comes);
  if (waiting_.empty()) return std::nullopt;
  std::optional<Completion> first(std::move(waiting_.front()));
  waiting_.pop_front();
  return first;
}

void WaitingTiles::end() noexcept {
  {
    std::scoped_lock const lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
}

bool WaitingTiles::over() const {
  std::scoped_lock const lock(mutex_);
  return ended_ && waiting_.empty();
}

WaitingRun::WaitingRun(Pipeline& pipeline, std::optional<FilesToRead> const& files, Stages stages)
    : pipeline_(pipeline),
      source_(source_of(pipeline, files, stop_.get_token())),
      input_("files"),
      files_(static_cast<FileSource const*>(source_.get())) {
  begin(std::move(stages));
}

WaitingRun::WaitingRun(Pipeline& pipeline, std::unique_ptr<Source> source, std::string name, Stages stages,
                       std::stop_source stop)
    : pipeline_(pipeline),
      stop_(std::move(stop)),
      source_(std::move(source)),
      input_(std::move(name)),
      files_(nullptr) {
  begin(std::move(stages));
}

void WaitingRun::begin(Stages stages) {
  if (source_ == nullptr) {
    pipeline_.start(std::move(stages), into_queue());
  } else {
    thread_ = std::jthread([this, stages = std::move(stages)] { run(stages); });
  }
}

WaitingRun::~WaitingRun() {
  if (drained_) return;
  stop();
  try {
    drain().unread.mark_read();  // The program has stopped the run by its own wish, and got each tile that it took.
  } catch (...) {                // Nobody is left who could be told.
  }
}

Sink WaitingRun::into_queue() {
  return [this](Completion& completion) { tiles_.put(std::move(completion)); };
}

void WaitingRun::run(Stages const& stages) noexcept {
  pthread_setname_np(pthread_self(), "ps-run");
  try {
    report_ = pipeline_.run(*source_, stages, into_queue(), stop_.get_token());
  } catch (...) {
    problem_ = std::current_exception();
  }
  tiles_.end();
}

void WaitingRun::conclude() noexcept {
  try {
    report_ = pipeline_.drain();
  } catch (...) {
    problem_ = std::current_exception();
  }
  tiles_.end();
}

void WaitingRun::end_input() {
  if (source_ != nullptr) {
    throw Error(ErrorKind::bad_argument,
                "The input is " + input_ + ", and ends with them: penstock_stop ends it before.");
  }
  std::scoped_lock const lock(ending_);
  if (!thread_.joinable() && !drained_) thread_ = std::jthread([this] { conclude(); });
}

void WaitingRun::stop() noexcept {
  stop_.request_stop();
  pipeline_.stop();
}

Report WaitingRun::drain() {
  if (source_ == nullptr) end_input();
  while (auto const rest = tiles_.take(std::nullopt)) continue;
  thread_.join();
  drained_ = true;
  if (problem_) std::rethrow_exception(problem_);
  return std::move(*report_);
}

FileSource::Place WaitingRun::place_of(Tile const& tile) const {
  if (source_ == nullptr)
    throw Error(ErrorKind::bad_argument, "The program fed the tile itself: there is no file that it is of.");
  if (files_ == nullptr)
    throw Error(ErrorKind::bad_argument, "The tile is of several " + input_ + ", so it has no place in a file.");
  return files_->place_of(tile);
}

Stages pass_through(bool has_output) {
  // Tiles without an output need not be copied to a device whose memory is the host's.
  Promises const promises{.reads_once = !has_output, .any_alignment = true};
  return on_device(
      [](DeviceTile const& tile, StreamRef stream) {
        std::size_t const bytes = std::min(tile.input.size(), tile.output.size());
        if (bytes > 0) stream.copy(tile.output.first(bytes), tile.input.first(bytes));
        return bytes;
      },
      promises);
}

}  // namespace penstock::c
