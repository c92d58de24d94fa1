// SPDX-License-Identifier: Apache-2.0
#include "programs/doctor/probes.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <future>
#include <vector>

#include "engine/core/host_time.hpp"
#include "engine/core/number_text.hpp"
#include "penstock/clock.hpp"
#include "programs/command/pinned_memory.hpp"
#include "programs/command/results.hpp"

namespace penstock::cli {
namespace {

/// Copies are so large that their set-up does not show: a copy costs about 2.5 us plus its bytes.
constexpr std::size_t copy_bytes = std::size_t{32} << 20;
constexpr std::size_t copies_in_flight = 2;
/// Bytes that one thread copies or reads at a time: a tile.
constexpr std::size_t piece_bytes = std::size_t{4} << 20;
/// Bytes that tiles are filled from: more than most caches hold.
constexpr std::size_t fill_source_bytes = std::size_t{256} << 20;
/// Factor by which a file is read longer than anything else is measured: 10 s, of half a second for each.
constexpr int read_spans = 20;

/// Pinned memory for two copies each way and a piece for each thread.
std::size_t slab_bytes(unsigned threads) {
  return std::max(threads * piece_bytes, 4 * copy_bytes);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Host and device memory to copy to and from.
struct Workplace {
  Workplace(Device& device, unsigned threads, std::stop_token const& stop)
      : pinned(device, slab_bytes(threads), std::nullopt, stop), memory(device.allocate(4 * copy_bytes)) {}
  std::span<std::byte> host(std::size_t part) const { return pinned.bytes().subspan(part * copy_bytes, copy_bytes); }
  std::span<std::byte> on_device(std::size_t part) const {
    return memory.bytes().subspan(part * copy_bytes, copy_bytes);
  }

  PinnedMemory pinned;
  DeviceMemory memory;
};

/// Duration of a measurement. It is done at least once, so that a busy machine is slow but never stands still.
struct Span {
  std::chrono::nanoseconds at_most;
  std::stop_token stop;

  bool goes_on(Clock::time_point start) const { return Clock::now() - start < at_most && !stop.stop_requested(); }
};

/// Keeps copies of one direction going for a while. The rate is that of whole copies that ended.
double copy_rate(Device& device, bool up, Workplace const& place, Span const& span) {
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
  std::size_t turn = 0;
  do {
    enqueue(turn);
    turn = (turn + 1) % copies_in_flight;
    ends[turn].wait();
    ++copies;
  } while (span.goes_on(start));
  double const seconds = seconds_since(start);
  stream.synchronize();
  return static_cast<double>(copies * copy_bytes) / seconds;
}

/// Runs `piece(thread)` on every thread until it returns 0 bytes or the time is over; bytes a second over all threads.
///
/// Throws: what a piece throws.
double together(unsigned threads, Span const& span, std::function<std::size_t(unsigned)> const& piece) {
  auto const start = Clock::now();
  auto const work = [&](unsigned thread) {
    std::size_t bytes = 0;
    do {
      std::size_t const moved = piece(thread);
      if (moved == 0) break;
      bytes += moved;
      HostTime::pay();
    } while (span.goes_on(start));
    return bytes;
  };
  std::vector<std::future<std::size_t>> all;
  for (unsigned thread = 0; thread < threads; ++thread) all.push_back(std::async(std::launch::async, work, thread));
  std::size_t bytes = 0;
  for (auto& one : all) bytes += one.get();
  return static_cast<double>(bytes) / seconds_since(start);
}

/// Copies ordinary memory into pinned memory; each thread begins at another place of it.
double fill_rate(unsigned threads, Workplace const& place, std::span<std::byte const> source, Span const& span) {
  std::size_t const pieces = source.size() / piece_bytes;
  std::vector<std::size_t> turns(threads);
  for (unsigned thread = 0; thread < threads; ++thread) turns[thread] = thread * pieces / threads;
  return together(threads, span, [&](unsigned thread) {
    std::size_t const turn = turns[thread]++ % pieces;
    std::memcpy(place.pinned.bytes().data() + thread * piece_bytes, source.data() + turn * piece_bytes, piece_bytes);
    return piece_bytes;
  });
}

void read_file(unsigned threads, Workplace const& place, OpenFile const& file, Span const& span, ProbeRates& rates) {
  std::atomic<std::uint64_t> next{0}, bytes_read{0};
  rates.read = together(threads, span, [&](unsigned thread) -> std::size_t {
    std::uint64_t const start = next.fetch_add(piece_bytes, std::memory_order_relaxed);
    if (start >= file.size()) return 0;
    auto const bytes = static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes, file.size() - start));
    std::size_t const got = file.read_at(start, place.pinned.bytes().subspan(thread * piece_bytes, bytes));
    bytes_read.fetch_add(got, std::memory_order_relaxed);
    return got;
  });
  rates.read_bytes = bytes_read;
  rates.read_all = next >= file.size();
}

}  // namespace

void expect_memory_to_probe(HostLimits const& host, unsigned threads) {
  // A probe of the CPU device takes host memory for the device as well: another four copies.
  std::uint64_t const needed = slab_bytes(threads) + 4 * copy_bytes + fill_source_bytes;
  std::uint64_t const available = std::min(host.memory_available_bytes != 0 ? host.memory_available_bytes : needed,
                                           host.cgroup_memory_left_bytes.value_or(needed));
  if (available >= needed) return;
  throw Error(ErrorKind::out_of_memory, "To measure with --producers " + std::to_string(threads) + " takes " +
                                            size_text(needed) + " of memory, of which " + size_text(available) +
                                            " are to be had: use fewer, or --no-probe.");
}

std::chrono::nanoseconds time_for_each_rate() noexcept {
  constexpr std::chrono::nanoseconds usual = std::chrono::milliseconds(500), least = std::chrono::milliseconds(10);
  return std::max(usual / Clock::slower(), least);
}

ProbeRates probe_rates(Device& device, unsigned threads, OpenFile const* file, std::stop_token const& stop,
                       std::chrono::nanoseconds each) {
  Span const span{each, stop};
  device.attach();
  Workplace const place(device, threads, stop);
  ProbeRates rates;
  rates.threads = threads;
  rates.upload = copy_rate(device, true, place, span);
  if (!stop.stop_requested()) rates.download = copy_rate(device, false, place, span);
  if (!stop.stop_requested()) {
    auto other = std::async(std::launch::async, [&] { return copy_rate(device, false, place, span); });
    rates.both_up = copy_rate(device, true, place, span);
    rates.both_down = other.get();
  }
  if (!stop.stop_requested()) {
    std::vector<std::byte> const source(fill_source_bytes, std::byte{1});
    rates.fill_one = fill_rate(1, place, source, span);
    rates.fill = threads > 1 ? fill_rate(threads, place, source, span) : rates.fill_one;
  }
  if (file != nullptr && !stop.stop_requested()) {
    read_file(threads, place, *file, {read_spans * each, stop}, rates);
  }
  return rates;
}

}  // namespace penstock::cli
