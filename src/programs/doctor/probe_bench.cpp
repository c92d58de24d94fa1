// SPDX-License-Identifier: Apache-2.0
#include "programs/doctor/probe_bench.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <vector>

#include "engine/core/event_count.hpp"
#include "penstock/clock.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {
namespace {

using namespace std::chrono_literals;
using Time = ProbeBench::Time;

constexpr int rounds = 5;

Time median(std::vector<Time> times) {
  auto const middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}
Time median_of(std::function<Time()> const& once) {
  std::vector<Time> times;
  for (int i = 0; i < rounds; ++i) times.push_back(once());
  return median(std::move(times));
}
class Called final : public StreamCallback {
 public:
  void called(StreamStatus /*status*/) noexcept override { was.store(true, std::memory_order_release); }
  std::atomic<bool> was{false};
};

}  // namespace

void ProbeBench::expect_no_stop() const {
  if (stop_.stop_requested()) throw Error(ErrorKind::system, "Interrupted: the model is not measured to its end.");
}

Time ProbeBench::on_device(std::function<void(StreamRef)> const& put) {
  expect_no_stop();
  return median_of([&] {
    kernel(first_, 5ms);
    Event const before = marked(first_);
    put(first_);
    Event const after = marked(first_);
    first_.synchronize();
    return Time(after.since(before).value_or(0ns));
  });
}

Time ProbeBench::of_a_call(std::function<void(StreamRef)> const& call) {
  expect_no_stop();
  return median_of([&] {
    kernel(first_, 3ms);
    auto const start = Clock::now();
    for (int i = 0; i < calls; ++i) call(first_);
    Time const all = Clock::now() - start;
    first_.synchronize();
    return all / calls;
  });
}

Time ProbeBench::of_a_callback() {
  std::vector<Called> callbacks(calls);
  std::size_t next = 0;
  Time const time = of_a_call([&](StreamRef stream) { stream.call(callbacks[next++ % callbacks.size()]); });
  first_.synchronize();
  return time;
}

Time ProbeBench::of_a_synchronize() {
  return median_of([&] {
    auto const start = Clock::now();
    for (int i = 0; i < calls; ++i) first_.synchronize();
    return Time(Clock::now() - start) / calls;
  });
}

Time ProbeBench::of_a_call_by(unsigned of_threads) {
  expect_no_stop();
  auto const ask = [this] {
    device_.attach();
    Stream const own = device_.make_stream();
    own.synchronize();
    auto const start = Clock::now();
    for (int i = 0; i < 10 * calls; ++i) {
      kernel(own);
      if (i % calls == 0) own.synchronize();
    }
    Time const all = Clock::now() - start;
    own.synchronize();
    return all / (10 * calls);
  };
  return median_of([&] {
    std::vector<std::future<Time>> all;
    for (unsigned i = 0; i < of_threads; ++i) all.push_back(std::async(std::launch::async, ask));
    Time sum{};
    for (auto& one : all) sum += one.get();
    return sum / of_threads / of_threads;
  });
}

Time ProbeBench::time_both_ways() {
  expect_no_stop();
  return median_of([&] {
    kernel(first_, 5ms);
    Event const begin = marked(first_);
    second_.wait(begin);
    for (int i = 0; i < large_copies; ++i) {
      copy(first_, true, large);
      copy(second_, false, large);
    }
    Event const up = marked(first_), down = marked(second_);
    device_.synchronize();
    return Time(std::max(up.since(begin).value_or(0ns), down.since(begin).value_or(0ns)));
  });
}

Time ProbeBench::pageable() {
  expect_no_stop();
  std::vector<std::byte> memory(large, std::byte{1});
  return median_of([&] {
    auto const start = Clock::now();
    first_.upload(there(0, large), memory);
    first_.download(memory, there(0, large));
    first_.synchronize();
    return Time(Clock::now() - start) / 2;
  });
}

Time ProbeBench::until_noticed() {
  std::vector<Time> times;
  Event const event = device_.make_event();
  for (int i = 0; i < calls; ++i) {
    auto const start = Clock::now();
    kernel(first_);
    first_.record(event);
    while (!event.passed()) {
    }
    times.emplace_back(Clock::now() - start);
  }
  return median(std::move(times));
}

Time ProbeBench::until_called() {
  std::vector<Time> times;
  for (int i = 0; i < calls; ++i) {
    Called callback;
    auto const start = Clock::now();
    first_.call(callback);
    while (!callback.was.load(std::memory_order_acquire)) relax_cpu();
    times.emplace_back(Clock::now() - start);
    first_.synchronize();
  }
  return median(std::move(times));
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
