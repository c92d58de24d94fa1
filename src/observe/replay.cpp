// SPDX-License-Identifier: Apache-2.0
#include "observe/replay.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include "engine/core/failure_text.hpp"
#include "engine/core/number_text.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

/// A source of the tiles of one device that were not tried, until one fails. The pool has one tile, so `next` is called
/// after the preceding tile has been through.
class LostSource final : public Source {
 public:
  LostSource(LostTilesView const& view, std::size_t device, std::size_t devices)
      : tiles_(view.tiles()), device_(device), devices_(devices) {}

  bool next(Tile&) override {
    if (failed_) return false;
    for (; at_ < tiles_.size(); ++at_) {
      if (tiles_[at_]->lane % devices_ == device_ && tiles_[at_]->fate == Fate::not_tried) break;
    }
    now_ = at_ < tiles_.size() ? tiles_[at_++] : nullptr;
    if (now_ != nullptr) now_->fate = Fate::running;
    return now_ != nullptr;
  }
  std::size_t fill(Tile& tile) override {
    for (std::size_t which = 0; which <= most_more_inputs; ++which) {
      std::ranges::copy(LostTilesView::input(*now_, which), tile.input(which).begin());
    }
    std::copy(now_->filled.begin() + 1, now_->filled.end(), tile.more_filled.begin());
    tile.tag = now_->tag;
    return now_->filled[0];
  }
  /// Restores the sequence of the tile; a producer had given it a new one.
  void restore(Tile& tile) const { tile.sequence = now_->sequence; }
  void take(Completion const& done) {
    if (!done.ok()) {
      failed_ = true;
      put_text(now_->stage, done.failure != nullptr ? done.failure->stage : "device");
      put_text(now_->reason, done.failure != nullptr ? done.failure->reason : "It was cancelled.");
    }
    now_->fate = done.ok() ? Fate::innocent : Fate::guilty;
  }
  bool failed() const noexcept { return failed_; }

 private:
  std::vector<LostTile*> const& tiles_;
  std::size_t const device_, devices_;
  std::size_t at_ = 0;
  LostTile* now_ = nullptr;
  bool failed_ = false;
};

/// Options for one tile at a time on one device.
PipelineOptions alone(PipelineOptions options) {
  options.aim = Aim::throughput;
  options.producers = options.lanes = options.consumers = 1;
  options.ordered = options.parallel_sink = false;
  options.tuning.tiles = options.tuning.slots = options.tuning.batch = 1;
  options.tuning.sink_on_lanes = options.tuning.run_to_completion = false;
  options.tuning.memory = 0;
  options.own_memory.clear();
  options.watching = {.step_by_step = true};
  return options;
}

/// Makes the system kill this process when the other end of the pipe is closed. PR_SET_PDEATHSIG would not do: it
/// considers only the parent, which may be a shell or a debugger that was told to start this program.
void end_with_writer(int pipe) {
  fcntl(pipe, F_SETOWN, getpid());
  fcntl(pipe, F_SETSIG, SIGKILL);
  fcntl(pipe, F_SETFL, O_ASYNC);
  // The pipe may have been closed in between.
  pollfd end{pipe, POLLIN, 0};
  if (poll(&end, 1, 0) > 0 && (end.revents & POLLNVAL) == 0) _exit(0);
}

}  // namespace

std::optional<Replay> Replay::claim(TileShape shape) {
  char const* const variable = secure_getenv(replay_variable);
  std::string_view const text = variable != nullptr ? variable : "";
  std::size_t const comma = std::min(text.find(','), text.size());
  auto const file = whole_number_of(text.substr(0, comma), 1 << 20);
  auto const pipe = whole_number_of(text.substr(std::min(comma + 1, text.size())), 1 << 20);
  if (!file || !pipe) return std::nullopt;
  auto const given = static_cast<int>(*file);
  // Programs that this one starts do not inherit them.
  for (int const each : {given, static_cast<int>(*pipe)}) fcntl(each, F_SETFD, FD_CLOEXEC);
  end_with_writer(static_cast<int>(*pipe));
  // A lock belongs to the open file description, so each pipeline opens the file again.
  Descriptor claimed(open(("/proc/self/fd/" + std::to_string(given)).c_str(), O_RDWR | O_CLOEXEC));
  if (claimed.number < 0 || flock(claimed.number, LOCK_EX | LOCK_NB) != 0) return std::nullopt;
  auto view = std::make_unique<LostTilesView>(given);
  if (!(view->header().shape == shape)) return std::nullopt;
  return Replay(std::move(view), std::exchange(claimed.number, -1));
}

void Replay::run(std::vector<Device*> const& devices, PipelineOptions options, Stages const& stages) const {
  view_->header().began.fetch_add(1);
  try {
    PipelineOptions one_by_one = alone(std::move(options));
    for (std::size_t device = 0; device < devices.size(); ++device) {
      LostSource source(*view_, device, devices.size());
      // The program's own host stages had already processed the tile.
      one_by_one.host_stages = {{.name = "attribution", .body = [&](Tile& tile) { source.restore(tile); }}};
      Pipeline pipeline(*devices[device], one_by_one);
      // The parent reports the results of the tiles.
      static_cast<void>(pipeline.run(source, stages, [&](Completion const& done) { source.take(done); }).ok());
      // The end of the process releases the device's resources.
      if (source.failed()) _exit(0);
    }
  } catch (...) {
    put_text(view_->header().problem, current_failure("", ErrorKind::system)->reason);
  }
  _exit(0);
}

}  // namespace penstock
