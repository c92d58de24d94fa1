// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "sender.hpp"
#include <linux/sock_diag.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#include "engine/core/pool.hpp"
#include "engine/machine/host_limits.hpp"
#include "penstock/ingest/sockets.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {

/// A pause that ends the input of datagrams.
constexpr std::chrono::milliseconds silence{200};

/// Result of one way of receiving.
struct Received {
  double cpu = 0;
  double seconds = 0;  ///< Seconds up to the last bytes.
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;  ///< Datagrams, as the system or the source counts them.
  double sent_for = 0;        ///< Seconds that the sender of datagrams took.
};

inline int bound_for_datagrams(std::size_t buffer) {
  int const one = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), buffer_bytes = static_cast<int>(buffer);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(one, reinterpret_cast<sockaddr const*>(&here), sizeof here) != 0) std::abort();
  if (setsockopt(one, SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes) != 0) {
    setsockopt(one, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
  }
  return one;
}
inline std::uint16_t port_of(int socket) {
  sockaddr_in here{};
  socklen_t bytes = sizeof here;
  getsockname(socket, reinterpret_cast<sockaddr*>(&here), &bytes);
  return ntohs(here.sin_port);
}

/// Notes when bytes came.
class Watch {
  using WallClock = std::chrono::steady_clock;

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

/// Reads into all of the memory cyclically, as into tiles.
inline Received bare_streams(Load const& load, Sender& sender, std::span<std::byte> memory) {
  constexpr std::size_t read_bytes = std::size_t{256} << 10;
  int const listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listening, reinterpret_cast<sockaddr const*>(&here), sizeof here) != 0) std::abort();
  listen(listening, SOMAXCONN);
  sender.start(port_of(listening));
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

/// Receives into all of the memory cyclically, as into tiles.
inline Received bare_datagrams(Load const& load, Sender& sender, std::span<std::byte> memory) {
  int const socket = bound_for_datagrams(load.receive_buffer);
  sender.start(port_of(socket));
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
  Received got = watch.end();
  std::array<std::uint32_t, SK_MEMINFO_VARS> counts{};
  socklen_t bytes = sizeof counts;
  getsockopt(socket, SOL_SOCKET, SO_MEMINFO, counts.data(), &bytes);
  got.dropped = counts[SK_MEMINFO_DROPS];
  close(socket);
  return got;
}

/// Runs producers that return each tile at once.
inline Received into_tiles(Source& source, Pool& pool, unsigned producers) {
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

inline std::uint16_t port_in(std::string const& address) {
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

/// Ways to receive sockets.
enum class Receiving {
  bare,      ///< A loop only reads, into as much memory as the tiles have.
  tiles,     ///< A source fills tiles, which are let go of at once.
  pipeline,  ///< A source feeds a pipeline on the CPU device, whose stage reads tiles where they lie, but does nothing.
};

/// Tiles that sources fill, or the pipeline that has them.
class TilesToFill {
 public:
  explicit TilesToFill(Receiving way) {
    if (way != Receiving::pipeline) return;
    device_ = open_device("cpu");
    pipeline_.emplace(*device_, PipelineOptions{.tile = shape});
  }
  std::span<std::byte> memory() { return slab_.all(); }
  Pool& pool() { return pipeline_ ? pipeline_->pool() : pool_; }
  Received receive(Source& source, unsigned producers) {
    if (!pipeline_) return into_tiles(source, pool_, producers);
    Watch watch;
    Report const report = pipeline_->run(source, on_device([](DeviceTile const&, StreamRef) {}, {.reads_once = true}),
                                         [&](TileResult<> tile) { watch.came(tile.input().size()); });
    if (!report.ok()) std::abort();
    return watch.end();
  }

 private:
  static constexpr std::size_t count = 16;
  static constexpr TileShape shape{.input_bytes = std::size_t{1} << 20};
  Pages slab_{Pool::slab_bytes(shape, count)};
  Pool pool_{slab_.all(), shape, count};
  std::unique_ptr<Device> device_;
  std::optional<Pipeline> pipeline_;
};

inline Received receive_streams(Receiving way, Load const& load) {
  Sender sender(false, load);
  TilesToFill tiles(way);
  if (way == Receiving::bare) return bare_streams(load, sender, tiles.memory());
  ConnectionSource source({"tcp:127.0.0.1:0"}, tiles.pool(),
                          {.connections = load.connections, .framing = length_prefixed()});
  sender.start(port_in(source.addresses().front()));
  return tiles.receive(source, load.producers);
}

inline Received receive_datagrams(Receiving way, Load const& load) {
  Sender sender(true, load);
  TilesToFill tiles(way);
  Received got;
  if (way == Receiving::bare) {
    got = bare_datagrams(load, sender, tiles.memory());
  } else {
    DatagramSource source({"udp:127.0.0.1:0"}, tiles.pool(), {.idle = silence, .receive_buffer = load.receive_buffer});
    sender.start(port_in(source.addresses().front()));
    if (load.before) sender.await_end();
    got = tiles.receive(source, load.producers);
    auto const counts = source.counts();
    got.dropped = counts.dropped + counts.waiting;
  }
  sender.await_end();
  got.sent_for = sender.seconds();
  return got;
}

}  // namespace penstock
