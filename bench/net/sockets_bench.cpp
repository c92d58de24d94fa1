// SPDX-License-Identifier: Apache-2.0
// What do sockets cost on their way into tiles, beside a loop that only reads them? Budget: at 300 MB/s of messages of
// 1 to 8 KiB at most 1.3 times the CPU time, with nothing lost; datagrams of 1 KiB at 0.9 of the rate that such a loop
// takes (decisions/0074).
//
// Each iteration does both, one after the other. PENSTOCK_BENCH_MEBIBYTES says how much is sent for each.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "sender.hpp"
#include <benchmark/benchmark.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#include "penstock/core/pool.hpp"
#include "penstock/machine/host_limits.hpp"
#include "penstock/sockets.hpp"

namespace penstock {
namespace {

using WallClock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds silence{200};
constexpr int buffer_bytes = 256 << 20;

std::uint64_t bytes_to_send() {
  char const* const text = std::getenv("PENSTOCK_BENCH_MEBIBYTES");
  return (text == nullptr ? 600 : std::strtoull(text, nullptr, 10)) << 20;
}

/// What one way of receiving came to.
struct Received {
  double cpu = 0;
  double seconds = 0;  ///< To the last bytes.
  std::uint64_t bytes = 0;
};

int bound(int type) {
  int const one = socket(AF_INET, type | SOCK_CLOEXEC, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(one, reinterpret_cast<sockaddr const*>(&here), sizeof here) != 0) std::abort();
  if (setsockopt(one, SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes) != 0) {
    setsockopt(one, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
  }
  return one;
}
std::uint16_t port_of(int socket) {
  sockaddr_in here{};
  socklen_t bytes = sizeof here;
  getsockname(socket, reinterpret_cast<sockaddr*>(&here), &bytes);
  return ntohs(here.sin_port);
}

/// Notes when bytes came.
class Watch {
 public:
  void came(std::size_t bytes) {
    auto const now = WallClock::now();
    last_ = now;
    got_.bytes += bytes;
  }
  Received end() {
    got_.cpu = cpu_seconds() - before_;
    got_.seconds = std::chrono::duration<double>(last_ - first_).count();
    return got_;
  }

 private:
  double const before_ = cpu_seconds();
  Received got_;
  WallClock::time_point const first_ = WallClock::now();
  WallClock::time_point last_{};
};

/// Reads into all of the memory in turn, as tiles are.
Received bare_streams(Load const& load, std::span<std::byte> memory) {
  constexpr std::size_t read_bytes = std::size_t{256} << 10;
  int const listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listening, reinterpret_cast<sockaddr const*>(&here), sizeof here) != 0) std::abort();
  listen(listening, SOMAXCONN);
  Sender const sender(port_of(listening), false, load);
  int const set = epoll_create1(EPOLL_CLOEXEC);
  for (unsigned k = 0; k < load.connections; ++k) {
    int const one = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    epoll_event event{.events = EPOLLIN, .data = {.fd = one}};
    epoll_ctl(set, EPOLL_CTL_ADD, one, &event);
  }
  Watch watch;
  std::array<epoll_event, 128> events{};
  std::size_t at = 0;
  for (unsigned open = load.connections; open > 0;) {
    int const ready = epoll_wait(set, events.data(), static_cast<int>(events.size()), -1);
    for (int k = 0; k < ready; ++k) {
      if (at + read_bytes > memory.size()) at = 0;
      int const from = events[static_cast<std::size_t>(k)].data.fd;
      ssize_t const got = recv(from, memory.data() + at, read_bytes, 0);
      if (got <= 0) {
        close(from);
        --open;
      } else {
        watch.came(static_cast<std::size_t>(got));
        at += static_cast<std::size_t>(got);
      }
    }
  }
  close(listening);
  close(set);
  return watch.end();
}

/// Receives into all of the memory in turn, as tiles are.
Received bare_datagrams(Load const& load, std::span<std::byte> memory) {
  int const socket = bound(SOCK_DGRAM);
  Sender sender(port_of(socket), true, load);
  if (load.before) sender.await_end();
  constexpr std::size_t at_once = 64;
  std::array<mmsghdr, at_once> headers{};
  std::array<iovec, at_once> parts{};
  std::size_t const room = at_once * load.most;
  std::size_t at = 0;
  auto const prepare = [&] {
    at = at + 2 * room > memory.size() ? 0 : at + room;
    for (std::size_t k = 0; k < at_once; ++k) {
      parts[k] = {memory.data() + at + k * load.most, load.most};
      headers[k].msg_hdr.msg_iov = &parts[k];
      headers[k].msg_hdr.msg_iovlen = 1;
    }
  };
  Watch watch;
  for (pollfd waited{socket, POLLIN, 0}; poll(&waited, 1, int{silence.count()}) > 0;) {
    for (;;) {
      prepare();
      int const got = recvmmsg(socket, headers.data(), at_once, MSG_DONTWAIT, nullptr);
      if (got <= 0) break;
      std::size_t bytes = 0;
      for (int k = 0; k < got; ++k) bytes += headers[static_cast<std::size_t>(k)].msg_len;
      watch.came(bytes);
    }
  }
  close(socket);
  return watch.end();
}

/// Producers that let go of each tile at once.
Received into_tiles(Source& source, Pool& pool, unsigned producers) {
  Watch watch;
  std::mutex claims, counts;
  auto const produce = [&] {
    for (;;) {
      Loan const loan = pool.borrow();
      {
        std::scoped_lock const lock(claims);
        if (!source.next(*loan)) return;
      }
      std::size_t const bytes = source.fill(*loan);
      std::scoped_lock const lock(counts);
      watch.came(bytes);
    }
  };
  std::vector<std::jthread> others;
  for (unsigned k = 1; k < producers; ++k) others.emplace_back(produce);
  produce();
  others.clear();
  return watch.end();
}

std::uint16_t port_in(std::string const& address) {
  return static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
}

/// Memory that the sender's process does not share, so that no page is copied when it is written to.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes),
        first_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)) {
    if (first_ == MAP_FAILED) std::abort();
  }
  Pages(Pages const&) = delete;
  Pages& operator=(Pages const&) = delete;
  ~Pages() { munmap(first_, bytes_); }
  std::span<std::byte> all() const { return {static_cast<std::byte*>(first_), bytes_}; }

 private:
  std::size_t const bytes_;
  void* const first_;
};

struct Tiles {
  static constexpr std::size_t count = 16;
  TileShape shape{.input_bytes = std::size_t{1} << 20};
  Pages slab{Pool::slab_bytes(shape, count)};
  Pool pool{slab.all(), shape, count};
};

Received streams_into_tiles(Load const& load, Tiles& tiles) {
  ConnectionSource source({"tcp:127.0.0.1:0"}, tiles.pool,
                          {.connections = load.connections, .framing = length_prefixed()});
  Sender const sender(port_in(source.addresses().front()), false, load);
  return into_tiles(source, tiles.pool, load.producers);
}
Received datagrams_into_tiles(Load const& load, Tiles& tiles) {
  DatagramSource source({"udp:127.0.0.1:0"}, tiles.pool, {.idle = silence, .receive_buffer = buffer_bytes});
  Sender sender(port_in(source.addresses().front()), true, load);
  if (load.before) sender.await_end();
  return into_tiles(source, tiles.pool, load.producers);
}

/// What both came to, and the first as a share of the second.
void compare(benchmark::State& state, Load load, bool datagrams) {
  load.bytes = bytes_to_send();
  if (load.before) load.bytes = std::min<std::uint64_t>(load.bytes, 32 << 20);  // What a buffer holds.
  Tiles tiles;
  Received in_tiles, bare;
  double cpu_ratios = 0, rate_ratios = 0;
  auto const add = [](Received& all, Received const& one) {
    all.cpu += one.cpu;
    all.seconds += one.seconds;
    all.bytes += one.bytes;
  };
  for (auto _ : state) {
    auto const plain = datagrams ? bare_datagrams(load, tiles.slab.all()) : bare_streams(load, tiles.slab.all());
    auto const ours = datagrams ? datagrams_into_tiles(load, tiles) : streams_into_tiles(load, tiles);
    cpu_ratios += (ours.cpu / double(ours.bytes)) / (plain.cpu / double(plain.bytes));
    rate_ratios += (double(ours.bytes) / ours.seconds) / (double(plain.bytes) / plain.seconds);
    add(bare, plain);
    add(in_tiles, ours);
  }
  double const sent = double(load.bytes) * double(state.iterations());
  auto const show = [&](std::string const& name, Received const& all) {
    state.counters[name + "_cpu_s_per_GB"] = all.cpu / (double(all.bytes) / 1e9);
    state.counters[name + "_MB_s"] = double(all.bytes) / all.seconds / 1e6;
    state.counters[name + "_lost"] = std::max(0.0, 1 - double(all.bytes) / sent);
  };
  show("tiles", in_tiles);
  show("bare", bare);
  state.counters["cpu_ratio"] = cpu_ratios / double(state.iterations());
  state.counters["rate_ratio"] = rate_ratios / double(state.iterations());
}

}  // namespace
}  // namespace penstock

int main(int count, char** words) {
  using namespace penstock;
  auto const add = [](std::string const& name, Load const& load, bool datagrams) {
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { compare(state, load, datagrams); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(std::getenv("PENSTOCK_BENCH_MEBIBYTES") != nullptr ? 1 : 5);
  };
  for (unsigned const connections : {1U, 8U, 256U}) {
    add("streams/300MB_s/connections:" + std::to_string(connections), {.connections = connections}, false);
  }
  add("streams/full/connections:8", {.bytes_per_second = 0, .connections = 8}, false);
  add("streams/300MB_s/connections:8/producers:2", {.connections = 8, .producers = 2}, false);
  add("datagrams/300MB_s/1_to_8_KiB", {}, true);
  add("datagrams/100MB_s/1_KiB", {.bytes_per_second = 100e6, .most = 1024}, true);
  add("datagrams/full/1_KiB", {.bytes_per_second = 0, .most = 1024}, true);
  add("datagrams/drained/1_KiB", {.bytes_per_second = 0, .most = 1024, .before = true}, true);
  benchmark::Initialize(&count, words);
  benchmark::RunSpecifiedBenchmarks();
}
