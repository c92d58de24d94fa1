// SPDX-License-Identifier: Apache-2.0
#include "course/part_work.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "engine/core/host_time.hpp"
#include "engine/core/quantile.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr int repetitions = 3;
/// Maximum number of tries of something that the host is late with now and then.
constexpr int most_tries = 30;
/// Input and output of any number of parts are whole pages.
constexpr std::size_t unit_bytes = 2048;

/// GB/s of uploads, at best.
double upload_rate(Workbench& bench) {
  constexpr std::size_t bytes = std::size_t{4} << 20;
  PinnedMemory const host(bench.device(), bytes);
  DeviceMemory const memory = bench.device().allocate(bytes);
  Stream const stream = bench.device().make_stream();
  Event const start = bench.device().make_event({.timing = true}), end = bench.device().make_event({.timing = true});
  double best = 0;
  for (int i = 0; i < repetitions; ++i) {
    stream.record(start);
    stream.upload(memory.bytes(), host.bytes());
    stream.record(end);
    stream.synchronize();
    auto const took = std::max(end.since(start).value(), std::chrono::nanoseconds(1));
    best = std::max(best, static_cast<double>(bytes) / static_cast<double>(took.count()));
  }
  return best;
}

}  // namespace

PartTimes PartTimes::divided_by(std::size_t number) const noexcept {
  auto const divisor = static_cast<std::int64_t>(number);
  return {up / divisor, kernel / divisor, down / divisor};
}

PartTimes shortest(std::span<Interval const> pieces) {
  constexpr auto never = std::chrono::nanoseconds::max();
  PartTimes times{never, never, never};
  for (Interval const& piece : pieces) {
    auto& time = piece.label == "up" ? times.up : piece.label == "down" ? times.down : times.kernel;
    time = std::min(time, piece.length());
  }
  return times;
}

CopyEngines copy_engines_of(Workbench& bench) {
  constexpr std::size_t bytes = 4096;
  PinnedMemory const host(bench.device(), 2 * bytes);
  DeviceMemory const memory = bench.device().allocate(2 * bytes);
  std::vector<Stream> streams;
  for (int i = 0; i < 2; ++i) streams.push_back(bench.device().make_stream());
  CopyEngines engines{.count = bench.device().info().copy_engines, .in_order_of_issue = true, .known = false};
  for (int i = 0, seen = 0; i < most_tries && seen < repetitions && engines.in_order_of_issue; ++i) {
    std::size_t const first = bench.pieces();
    bench.hold(std::span(streams).first(1));
    for (std::size_t stream = 0; stream < 2; ++stream) {
      bench.timed("engines", "up", streams[stream], [&] {
        streams[stream].upload(memory.bytes().subspan(stream * bytes, bytes),
                               host.bytes().subspan(stream * bytes, bytes));
      });
    }
    // A try in which the host was late with the second copy shows nothing.
    bool const in_time = bench.holding();
    auto const all = bench.intervals();
    if (!in_time) continue;
    ++seen;
    engines.known = true;
    engines.in_order_of_issue = !before(all[first + 1], all[first]);
  }
  return engines;
}

std::optional<bool> kernels_end_together(Workbench& bench) {
  std::vector<Stream> streams;
  std::vector<Event> ends;
  for (int i = 0; i < 2; ++i) {
    streams.push_back(bench.device().make_stream());
    ends.push_back(bench.device().make_event({.timing = true}));
  }
  int seen = 0;
  for (int i = 0; i < most_tries && seen < repetitions; ++i) {
    bench.hold(streams);
    for (std::size_t each = 0; each < 2; ++each) {
      bench.occupy("kernel", each == 0 ? std::chrono::nanoseconds(0) : bench.kernel_time() / 10, streams[each]);
    }
    for (std::size_t each = 0; each < 2; ++each) streams[each].record(ends[each]);
    // A try in which the host was late shows nothing.
    bool const in_time = bench.holding();
    for (Stream const& stream : streams) stream.synchronize();
    if (!in_time) continue;
    ++seen;
    if (ends[1].since(ends[0]).value() > bench.kernel_time() / 20) return false;
  }
  return seen > 0 ? std::optional(true) : std::nullopt;
}

ScaledWork scaled_to_fit(Workbench& bench, PartTimes const& text, std::size_t most_bytes) {
  double const all = upload_rate(bench) * static_cast<double>(text.up.count());
  // This bounds an experiment to some seconds, also on a model whose link is slow.
  constexpr std::chrono::nanoseconds longest = std::chrono::milliseconds(10);
  int divisor = 1;
  for (int decade = 1;; decade *= 10) {
    for (int const step : {1, 2, 5}) {
      divisor = decade * step;
      bool const fits = all / divisor <= static_cast<double>(most_bytes) && text.sum() / divisor <= longest;
      if (fits || divisor >= 1'000'000) {
        return {text.divided_by(static_cast<std::size_t>(divisor)), divisor, static_cast<std::size_t>(all / divisor)};
      }
    }
  }
}

PartWork::PartWork(Workbench& bench, std::size_t parts, std::size_t bytes_of_each, std::chrono::nanoseconds kernel)
    : bench_(bench),
      parts_(parts),
      bytes_(std::max<std::size_t>(bytes_of_each / unit_bytes, 1) * unit_bytes),
      kernel_(kernel),
      blocks_(blocks_that_fill(bench.device().info())),
      host_(bench.device(), 2 * parts * bytes_),
      memory_(bench.device().allocate(parts * bytes_)) {
  renew();
}

void PartWork::renew(std::size_t part) {
  // The content is at both ends: the rest would show nothing more.
  std::array const content{++content_, static_cast<std::uint64_t>(part)};
  std::memcpy(input(part).data(), content.data(), sizeof content);
  std::memcpy(input(part).last(sizeof content).data(), content.data(), sizeof content);
}

void PartWork::renew() {
  for (std::size_t part = 0; part < parts_; ++part) renew(part);
  HostTime::forget();  // Preparations and checks of the laboratory are not work of its host.
}

bool PartWork::right(std::size_t part) const {
  bool const right = std::memcmp(input(part).data(), output(part).data(), bytes_) == 0;
  HostTime::forget();
  return right;
}

std::size_t PartWork::wrong() const {
  std::size_t wrong = 0;
  for (std::size_t part = 0; part < parts_; ++part) wrong += right(part) ? 0U : 1U;
  return wrong;
}

void PartWork::upload(std::string const& row, std::size_t part, StreamRef stream) {
  bench_.timed(row, "up", stream, [&] { stream.upload(there(part), input(part)); });
}

void PartWork::compute(std::string const& row, std::size_t /*part*/, StreamRef stream) {
  bench_.timed(row, "kernel", stream, [&] { bench_.occupy("kernel", kernel_, stream, blocks_); });
}

void PartWork::download(std::string const& row, std::size_t part, StreamRef stream) {
  bench_.timed(row, "down", stream, [&] { stream.download(output(part), there(part)); });
}

void PartWork::issue(std::string const& row, std::size_t part, StreamRef stream) {
  upload(row, part, stream);
  compute(row, part, stream);
  download(row, part, stream);
}

PartTimes PartWork::alone() {
  std::vector<Stream> streams;
  streams.push_back(bench_.device().make_stream());
  StreamRef const stream = streams.front();
  std::array const each{&PartWork::upload, &PartWork::compute, &PartWork::download};
  std::size_t const first = bench_.pieces();
  for (int i = 0; i < repetitions; ++i) {
    bench_.hold(streams);
    // Each step runs twice: a device needs a moment to go from copies to kernels, in which others may go on.
    for (auto const step : each) {
      for (int twice = 0; twice < 2; ++twice) (this->*step)("alone", 0, stream);
    }
    stream.synchronize();
  }
  auto const all = bench_.intervals();
  std::array<std::vector<std::chrono::nanoseconds>, steps> times;
  for (std::size_t i = first; i < all.size(); i += 2) times[(i - first) / 2 % steps].push_back(all[i + 1].length());
  auto const middle = [](auto& values) { return quantile<std::chrono::nanoseconds>(values, 0.5); };
  return {middle(times[0]), middle(times[1]), middle(times[2])};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
