// SPDX-License-Identifier: Apache-2.0
#include "course/workbench.hpp"

#include <utility>

#include "engine/core/host_time.hpp"
#include "engine/core/say.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// The largest experiment has some 150 kernels.
constexpr std::size_t most_stamps = 256;
/// Stamp of kernels whose times are not recorded.
constexpr std::size_t spare = 0;
constexpr std::size_t zero = 1;

}  // namespace

Workbench::Workbench(DeviceGroup const& devices, WorkbenchOptions options)
    : devices_(devices),
      device_(devices.front()),
      options_(std::move(options)),
      own_(device_.make_stream()),
      stamps_(device_.allocate(most_stamps * sizeof(Stamp))),
      zero_event_(device_.make_event({.timing = true})) {
  std::vector<Stamp> const fresh(most_stamps);
  own_.upload(stamps_.bytes(), std::as_bytes(std::span(fresh)));
  // The first launch does not count: a GPU loads a kernel's code then, and work beside it may have to wait.
  busy_prepare(own_);
  busy(std::chrono::nanoseconds(0), 1, on_device(spare), own_);
  own_.synchronize();
  find_zero();
}

Workbench::~Workbench() {
  try {
    // An experiment that failed may have left kernels behind that write to the stamps.
    device_.synchronize();
  } catch (std::exception const& problem) {
    say("at the end of an experiment: %s", problem.what());
  }
}

/// A host that waits for a kernel on an idle device sees its end within microseconds.
void Workbench::find_zero() {
  busy(std::chrono::nanoseconds(0), 1, on_device(zero), own_);
  own_.record(zero_event_);
  zero_event_.wait();
  host_zero_ = HostClock::now();
  Stamp stamp;
  own_.download(std::as_writable_bytes(std::span(&stamp, 1)),
                stamps_.bytes().subspan(zero * sizeof(Stamp), sizeof(Stamp)));
  own_.synchronize();
  zero_stamp_ = stamp.end;
  stamps_used_ = zero + 1;
}

Stamp* Workbench::on_device(std::size_t stamp) const noexcept {
  return reinterpret_cast<Stamp*>(stamps_.bytes().data()) + stamp;
}

void Workbench::kernel(std::string row, std::string const& label, StreamRef stream, unsigned times,
                       std::uint32_t blocks) {
  std::size_t stamp = 0;
  {
    std::lock_guard const lock(mutex_);
    if (stamps_used_ == most_stamps) {
      throw Error(ErrorKind::bad_argument, "An experiment asked for more than " +
                                               std::to_string(most_stamps - zero - 1) +
                                               " kernels: raise the number in workbench.cpp.");
    }
    stamp = stamps_used_++;
    pieces_.push_back({std::move(row), label, stamp, Engine::kernels});
  }
  options_.launch({.label = label, .duration = times * options_.kernel_time, .blocks = blocks}, on_device(stamp),
                  stream);
}

void Workbench::occupy(std::string_view label, std::chrono::nanoseconds duration, StreamRef stream,
                       std::uint32_t blocks) {
  options_.launch({.label = label, .duration = duration, .blocks = blocks}, on_device(spare), stream);
}

void Workbench::hold(std::span<Stream const> streams) {
  occupy("hold", options_.kernel_time / 10, own_);
  Event& held = holds_.emplace_back(device_.make_event());
  own_.record(held);
  for (Stream const& stream : streams) stream.wait(held);
}

Timed Workbench::timed(std::string row, std::string label, StreamRef stream, std::function<void()> const& work) {
  HostTime::forget();  // Timing work is not work of the host.
  Event start = device_.make_event({.timing = true});
  Event end = device_.make_event({.timing = true});
  HostTime::forget();
  stream.record(start);
  work();
  stream.record(end);
  Timed const timed{start, end};
  std::lock_guard const lock(mutex_);
  auto const engine = label.starts_with("up") ? Engine::up : label.starts_with("down") ? Engine::down : Engine::kernels;
  pieces_.push_back({std::move(row), std::move(label), Events{std::move(start), std::move(end)}, engine});
  HostTime::forget();
  return timed;
}

void Workbench::note(std::string row, std::string label, HostClock::time_point start, HostClock::time_point end) {
  std::lock_guard const lock(mutex_);
  pieces_.push_back({std::move(row), std::move(label), HostTimes{start, end}, Engine::none});
}

Workbench::Times Workbench::times_of(Piece const& piece, std::span<Stamp const> stamps) const {
  if (auto const* const number = std::get_if<std::size_t>(&piece.when)) {
    Stamp const& stamp = stamps[*number];
    if (!stamp.ran()) {
      throw Error(ErrorKind::device_refused, "The device is idle, but kernel " + piece.label + " never ran.");
    }
    auto const since_zero = [&](std::uint64_t time) {
      return std::chrono::nanoseconds(static_cast<std::int64_t>(time - zero_stamp_));
    };
    return {since_zero(stamp.start), since_zero(stamp.end)};
  }
  if (auto const* const events = std::get_if<Events>(&piece.when)) {
    // The device is idle, so it has passed both events.
    return {events->start.since(zero_event_).value(), events->end.since(zero_event_).value()};
  }
  auto const& host = std::get<HostTimes>(piece.when);
  return {host.start - host_zero_, host.end - host_zero_};
}

std::size_t Workbench::pieces() const {
  std::lock_guard const lock(mutex_);
  return pieces_.size();
}

std::vector<Interval> Workbench::intervals() {
  device_.synchronize();
  std::vector<Stamp> stamps(most_stamps);
  own_.download(std::as_writable_bytes(std::span(stamps)), stamps_.bytes().first(most_stamps * sizeof(Stamp)));
  own_.synchronize();

  std::vector<Interval> intervals;
  for (Piece const& piece : pieces_) {
    auto const [start, end] = times_of(piece, stamps);
    intervals.push_back({piece.row, piece.label, start, end, piece.engine});
  }
  start_at_zero(intervals);
  return intervals;
}

ThreadTeam::ThreadTeam(Device& device, unsigned threads) : device_(device) {
  try {
    for (unsigned number = 0; number < threads; ++number) threads_.emplace_back([this, number] { serve(number); });
  } catch (...) {
    join();
    throw;
  }
}

ThreadTeam::~ThreadTeam() {
  join();
}

void ThreadTeam::join() noexcept {
  {
    std::lock_guard const lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void ThreadTeam::each(std::function<void(unsigned)> const& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  ++round_;
  under_way_ = threads_.size();
  changed_.notify_all();
  changed_.wait(lock, [this] { return under_way_ == 0; });
  if (auto const problem = std::exchange(problem_, nullptr)) std::rethrow_exception(problem);
}

void ThreadTeam::serve(unsigned number) {
  std::unique_lock lock(mutex_);
  for (std::uint64_t round = 1;; ++round) {
    changed_.wait(lock, [&] { return over_ || round_ == round; });
    if (over_) return;
    lock.unlock();
    std::exception_ptr problem;
    try {
      device_.attach();
      (*work_)(number);
    } catch (...) {
      problem = std::current_exception();
    }
    lock.lock();
    if (problem && !problem_) problem_ = problem;
    if (--under_way_ == 0) changed_.notify_all();
  }
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
