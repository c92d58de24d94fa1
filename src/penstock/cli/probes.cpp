// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/probes.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "penstock/cli/open_file.hpp"
#include "penstock/machine/slab.hpp"
#include "penstock/machine/topology.hpp"

namespace penstock::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// Large enough that set-up does not show: a copy costs about 2.5 us plus its bytes.
constexpr std::size_t copy_bytes = std::size_t{32} << 20;
constexpr std::size_t copies_in_flight = 2;
/// What one thread copies or reads at a time: a tile.
constexpr std::size_t piece_bytes = std::size_t{4} << 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Host and device memory for two copies each way.
struct Workplace {
  explicit Workplace(Device& device, std::size_t host_bytes)
      : slab(std::max(host_bytes, 4 * copy_bytes)),
        pinned(device.pin(slab.bytes())),
        memory(device.allocate(4 * copy_bytes)) {}
  std::span<std::byte> host(std::size_t part) const { return slab.bytes().subspan(part * copy_bytes, copy_bytes); }
  std::span<std::byte> on_device(std::size_t part) const {
    return memory.bytes().subspan(part * copy_bytes, copy_bytes);
  }

  Slab slab;
  Pinned pinned;
  DeviceMemory memory;
};

/// Keeps copies of one direction going for a while. The rate is that of whole copies that ended.
double copy_rate(Device& device, bool up, Workplace const& place, std::chrono::nanoseconds each) {
  device.attach();
  Stream const stream = device.make_stream();
  std::vector<Event> ends;
  for (std::size_t i = 0; i < copies_in_flight; ++i) ends.push_back(device.make_event({.blocking_wait = true}));
  std::size_t const base = up ? 0 : copies_in_flight;
  auto const enqueue = [&](std::size_t i) {
    if (up) {
      stream.upload(place.on_device(base + i), place.host(base + i));
    } else {
      stream.download(place.host(base + i), place.on_device(base + i));
    }
    stream.record(ends[i]);
  };
  for (std::size_t i = 0; i < copies_in_flight; ++i) enqueue(i);
  ends[0].wait();  // The first copy warms up and is not counted.
  auto const start = Clock::now();
  std::size_t copies = 0;
  for (std::size_t i = 0; Clock::now() - start < each; i = (i + 1) % copies_in_flight) {
    enqueue(i);
    ends[(i + 1) % copies_in_flight].wait();
    ++copies;
  }
  double const seconds = seconds_since(start);
  stream.synchronize();
  return static_cast<double>(copies * copy_bytes) / seconds;
}

/// Runs `piece(thread, n)` on every thread until it says 0 bytes or the time is over; bytes a second over all.
double together(unsigned threads, std::chrono::nanoseconds at_most, std::function<std::size_t(unsigned)> const& piece) {
  std::atomic<std::size_t> bytes{0};
  auto const start = Clock::now();
  {
    std::vector<std::jthread> all;
    for (unsigned thread = 0; thread < threads; ++thread) {
      all.emplace_back([&, thread] {
        while (Clock::now() - start < at_most) {
          std::size_t const moved = piece(thread);
          if (moved == 0) break;
          bytes.fetch_add(moved, std::memory_order_relaxed);
        }
      });
    }
  }
  return static_cast<double>(bytes.load()) / seconds_since(start);
}

/// Copies ordinary memory, more of it than a cache holds, into pinned memory.
double fill_rate(unsigned threads, Workplace const& place, std::chrono::nanoseconds each) {
  constexpr std::size_t pieces = 16;
  std::vector<std::vector<std::byte>> sources(threads, std::vector<std::byte>(pieces * piece_bytes, std::byte{1}));
  std::vector<std::size_t> turns(threads, 0);
  return together(threads, each, [&](unsigned thread) {
    std::size_t const turn = turns[thread]++ % pieces;
    std::memcpy(place.slab.bytes().data() + thread * piece_bytes, sources[thread].data() + turn * piece_bytes,
                piece_bytes);
    return piece_bytes;
  });
}

double read_rate(unsigned threads, Workplace const& place, std::string const& path) {
  std::unique_ptr<OpenFile> file;
  std::string problem;
  try {
    file = std::make_unique<OpenFile>(path);
    if (!file->pieces()) problem = "it is no regular file with something in it";
  } catch (std::runtime_error const& error) {
    problem = error.what();
  }
  if (!problem.empty())
    throw Error(ErrorKind::bad_argument, "--read " + path + ": " + problem + ". Name a file of some GiB.");
  std::atomic<std::uint64_t> next{0};
  return together(threads, std::chrono::hours(1), [&](unsigned thread) -> std::size_t {
    std::uint64_t const start = next.fetch_add(piece_bytes, std::memory_order_relaxed);
    if (start >= file->size()) return 0;
    auto const bytes = static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes, file->size() - start));
    file->read_at(start, place.slab.bytes().subspan(thread * piece_bytes, bytes));
    return bytes;
  });
}

}  // namespace

ProbeRates probe_rates(Device& device, unsigned threads, std::optional<std::string> const& file,
                       std::chrono::nanoseconds each) {
  device.attach();
  Workplace const place(device, std::size_t{threads} * piece_bytes);
  ProbeRates rates;
  rates.threads = threads;
  rates.upload = copy_rate(device, true, place, each);
  rates.download = copy_rate(device, false, place, each);
  {
    std::jthread other([&] { rates.both_down = copy_rate(device, false, place, each); });
    rates.both_up = copy_rate(device, true, place, each);
  }
  rates.fill_one = fill_rate(1, place, each);
  rates.fill = threads > 1 ? fill_rate(threads, place, each) : rates.fill_one;
  if (file) rates.read = read_rate(threads, place, *file);
  return rates;
}

}  // namespace penstock::cli
