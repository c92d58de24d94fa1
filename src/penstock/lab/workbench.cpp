// SPDX-License-Identifier: Apache-2.0
#include "penstock/lab/workbench.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace penstock::lab {
namespace {

/// One is for trying the kernel out. The largest experiment has sixteen kernels.
constexpr std::size_t most_stamps = 33;

std::chrono::nanoseconds time_of(std::uint64_t stamped) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(stamped));
}

}  // namespace

Workbench::Workbench(Device& device, WorkbenchOptions options)
    : device_(device),
      options_(std::move(options)),
      own_(device.make_stream()),
      stamps_(device.allocate(most_stamps * sizeof(Stamp))) {
  std::vector<Stamp> const fresh(most_stamps);
  own_.upload(stamps_.bytes(), std::as_bytes(std::span(fresh)));
  // Once before it counts: a GPU loads a kernel's code for its first launch, and what runs beside may have to wait.
  busy_prepare(own_);
  busy(std::chrono::nanoseconds(0), 1, on_device(0), own_);
  own_.synchronize();
}

Workbench::~Workbench() {
  try {
    // An experiment that failed may have left kernels behind that write to the stamps.
    device_.synchronize();
  } catch (std::exception const& problem) {
    std::fprintf(stderr, "penstock: at the end of an experiment: %s\n", problem.what());
  }
}

Stamp* Workbench::on_device(std::size_t stamp) const noexcept {
  return reinterpret_cast<Stamp*>(stamps_.bytes().data()) + stamp;
}

void Workbench::kernel(std::string row, std::string const& label, StreamRef stream, unsigned times,
                       std::uint32_t blocks) {
  std::size_t stamp = 0;
  {
    std::lock_guard const lock(mutex_);
    stamp = 1 + pieces_.size();
    if (stamp == most_stamps) {
      throw Error(ErrorKind::bad_argument, "An experiment asked for more than " + std::to_string(most_stamps - 1) +
                                               " kernels: raise the number in workbench.cpp.");
    }
    pieces_.push_back({std::move(row), label, stamp});
  }
  options_.launch({.label = label, .duration = times * options_.kernel_time, .blocks = blocks}, on_device(stamp),
                  stream);
}

std::vector<Interval> Workbench::intervals() {
  device_.synchronize();
  std::vector<Stamp> stamps(most_stamps);
  own_.download(std::as_writable_bytes(std::span(stamps)), stamps_.bytes().first(most_stamps * sizeof(Stamp)));
  own_.synchronize();

  std::vector<Interval> intervals;
  auto first = std::chrono::nanoseconds::max();
  for (Piece const& piece : pieces_) {
    Stamp const& stamp = stamps[piece.stamp];
    if (!stamp.ran()) {
      throw Error(ErrorKind::device_refused, "The device is idle, but kernel " + piece.label + " never ran.");
    }
    intervals.push_back({piece.row, piece.label, time_of(stamp.start), time_of(stamp.end)});
    first = std::min(first, intervals.back().start);
  }
  for (Interval& interval : intervals) {
    interval.start -= first;
    interval.end -= first;
  }
  return intervals;
}

}  // namespace penstock::lab
