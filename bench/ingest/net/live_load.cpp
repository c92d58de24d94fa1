// SPDX-License-Identifier: Apache-2.0
// usage: penstock_net_live_load [udp|tcp] [SECONDS]
// Does a pipeline that is fed by sockets hold a load for long? Budget: at 0.7 of its highest rate memory, descriptors
// and threads stay what they are after a minute, and nothing is lost.
//
// It looks for the highest rate of 1 KiB records on the loopback for two seconds, then sends 0.7 of it for SECONDS
// (60). It prints every minute, and at the end, the resources of the process and the time of records from their sender
// to the sink.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/ingest/sockets.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using WallClock = std::chrono::steady_clock;
constexpr std::size_t record_bytes = 1024;

std::uint64_t now() {
  return static_cast<std::uint64_t>(WallClock::now().time_since_epoch().count());
}

/// Times that records took: a bucket for each thirty-second of a power of two nanoseconds. It allocates no memory
/// later.
class Latencies {
 public:
  void add(std::uint64_t nanoseconds) noexcept {
    auto const width = static_cast<std::size_t>(std::bit_width(nanoseconds));
    std::size_t const fine = width <= 5 ? 0 : static_cast<std::size_t>(nanoseconds >> (width - 6)) & 31U;
    ++buckets_[32 * width + fine];
    ++count_;
  }
  /// Units: microseconds.
  double quantile(double share) const noexcept {
    double const wanted = share * static_cast<double>(count_);
    double before = 0;
    for (std::size_t k = 0; k < buckets_.size(); ++k) {
      before += static_cast<double>(buckets_[k]);
      if (before < wanted || k / 32 == 0) continue;
      double const top = static_cast<double>(std::uint64_t{1} << (k / 32 - 1));
      return top * (1 + static_cast<double>(k % 32 + 1) / 32) / 1000;
    }
    return 0;
  }
  std::uint64_t count() const noexcept { return count_; }

 private:
  std::array<std::uint64_t, std::size_t{32} * 65> buckets_{};
  std::uint64_t count_ = 0;
};

/// Resources that this process holds.
struct Held {
  std::size_t resident = 0;  ///< KiB.
  std::size_t descriptors = 0, threads = 0;

  static Held look() {
    Held held;
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmRSS:")) held.resident = std::stoul(line.substr(6));
      if (line.starts_with("Threads:")) held.threads = std::stoul(line.substr(8));
    }
    for (auto const& one : std::filesystem::directory_iterator("/proc/self/fd")) {
      held.descriptors += one.path().empty() ? 0U : 1U;
    }
    return held;
  }
};

/// A process that sends records for `seconds` seconds: at a rate, or with 0 at the highest possible. Each record begins
/// with the time at which it is sent. The process ends with its parent at the latest.
class Sender {
 public:
  Sender(std::string const& address, double rate, double seconds) : process_(fork()) {
    if (process_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    send_to(address, rate, seconds);
    _exit(0);
  }
  Sender(Sender const&) = delete;
  Sender& operator=(Sender const&) = delete;
  /// Blocks: until it has sent all.
  ~Sender() { waitpid(process_, nullptr, 0); }

 private:
  static int connected(std::string const& address) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int const one = socket(AF_INET, (address.starts_with("udp:") ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
    if (connect(one, reinterpret_cast<sockaddr const*>(&to), sizeof to) != 0) _exit(1);
    return one;
  }
  static void send_to(std::string const& address, double rate, double seconds) {
    int const socket = connected(address);
    std::array<char, record_bytes> record{};
    auto const start = WallClock::now();
    for (std::uint64_t sent = 0;; ++sent) {
      double const passed = std::chrono::duration<double>(WallClock::now() - start).count();
      if (passed >= seconds) return;
      double const early = rate > 0 ? static_cast<double>(sent) / rate - passed : 0;
      if (early > 200e-6) {
        timespec const time{.tv_sec = 0, .tv_nsec = static_cast<long>(std::min(early, 0.5) * 1e9)};
        ppoll(nullptr, 0, &time, nullptr);
      }
      std::uint64_t const stamp = now();
      std::memcpy(record.data(), &stamp, sizeof stamp);
      for (std::size_t part = 0; part < record.size();) {
        ssize_t const more = send(socket, record.data() + part, record.size() - part, MSG_NOSIGNAL);
        if (more <= 0) _exit(1);
        part += static_cast<std::size_t>(more);
      }
    }
  }

  pid_t const process_;
};

/// Records of one load that have come so far.
struct Came {
  std::mutex mutex;
  Latencies latencies;
};

/// Result of one load.
struct Sums {
  std::uint64_t received = 0, answered = 0, dropped = 0;
  double seconds = 0;
  bool ok = false;
};

/// Sends through a pipeline. `beside` is called on a thread of its own.
template <class Beside>
Sums load(bool datagrams, double rate, double seconds, Beside beside) {
  cpu::CpuDevice device;
  Pipeline pipeline(device, {.tile = {.input_bytes = std::size_t{256} << 10}});
  Came came;
  auto const sink = [&](TileResult<> tile) {
    std::scoped_lock const lock(came.mutex);
    std::uint64_t const then = now();
    for (auto rest = tile.input(); rest.size() >= record_bytes; rest = rest.subspan(record_bytes)) {
      std::uint64_t stamp = 0;
      std::memcpy(&stamp, rest.data(), sizeof stamp);
      came.latencies.add(then - stamp);
    }
  };
  auto const stage = on_device([](DeviceTile const&, StreamRef) {});
  Sums sums;
  Report report;
  auto const run = [&](Source& source, std::string const& address) {
    Sender const sender(address, rate, seconds);
    std::jthread const watches([&](std::stop_token const& stop) { beside(stop, came); });
    report = pipeline.run(source, stage, sink);
  };
  if (datagrams) {
    DatagramSource source({"udp:127.0.0.1:0"}, pipeline.pool(),
                          {.idle = std::chrono::seconds(1), .longest = record_bytes});
    run(source, source.addresses().front());
    auto const counts = source.counts();
    sums.received = counts.datagrams + counts.dropped + counts.waiting;
    sums.dropped = counts.dropped + counts.waiting;
  } else {
    ConnectionSource source({"tcp:127.0.0.1:0"}, pipeline.pool(),
                            {.connections = 1, .framing = equal_records(record_bytes)});
    run(source, source.addresses().front());
    sums.received = source.counts().bytes / record_bytes;
    sums.dropped = source.counts().loss.unfinished;
  }
  sums.answered = came.latencies.count();
  sums.seconds = seconds;
  sums.ok = report.ok() && sums.received == sums.answered + sums.dropped;
  return sums;
}

void print(char const* when, Held const& held, Came& came) {
  std::scoped_lock const lock(came.mutex);
  std::printf("%-8s %9zu %12zu %8zu %12llu %10.0f %10.0f\n", when, held.resident, held.descriptors, held.threads,
              static_cast<unsigned long long>(came.latencies.count()), came.latencies.quantile(0.5),
              came.latencies.quantile(0.99));
  std::fflush(stdout);
}

/// Reports the resources at the beginning, every minute and shortly before the end; true if memory is flat by then,
/// and descriptors and threads are the same.
bool hold(bool datagrams, double rate, double seconds) {
  Held first, last;
  bool told = false;
  auto const beside = [&](std::stop_token const& stop, Came& came) {
    auto const start = WallClock::now();
    // Allocations that a run makes once are there after a tenth of it, or after a minute.
    double const settled = std::min(60.0, seconds / 10), step = std::min(60.0, seconds / 4);
    double next = settled;
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, stop, std::chrono::milliseconds(10), [&] { return stop.stop_requested(); })) {
      double const passed = std::chrono::duration<double>(WallClock::now() - start).count();
      if (passed < next || passed > seconds - 0.1) continue;
      last = Held::look();
      if (!told) first = last;
      told = true;
      print((std::to_string(static_cast<int>(passed)) + " s").c_str(), last, came);
      double const last_look = seconds - 0.3;
      next = passed >= last_look ? 2 * seconds : std::min((std::floor(passed / step) + 1) * step, last_look);
    }
  };
  std::printf("%-8s %9s %12s %8s %12s %10s %10s\n", "", "RSS KiB", "descriptors", "threads", "records", "p50 us",
              "p99 us");
  Sums const sums = load(datagrams, rate, seconds, beside);
  std::printf("received %llu, answered %llu, dropped %llu (%.4f %%), %.1f MB/s\n",
              static_cast<unsigned long long>(sums.received), static_cast<unsigned long long>(sums.answered),
              static_cast<unsigned long long>(sums.dropped),
              100 * static_cast<double>(sums.dropped) / std::max(1.0, static_cast<double>(sums.received)),
              static_cast<double>(sums.answered) * record_bytes / sums.seconds / 1e6);
  bool const grew = last.resident > first.resident + 4096;
  bool const leaks = last.descriptors != first.descriptors || last.threads != first.threads;
  std::printf("memory: %s (%+lld KiB), descriptors and threads: %s\n", grew ? "GROWS" : "flat",
              static_cast<long long>(last.resident) - static_cast<long long>(first.resident),
              leaks ? "LEAK" : "the same");
  return sums.ok && told && !grew && !leaks;
}

}  // namespace
}  // namespace penstock

int main(int count, char** words) {
  using namespace penstock;
  std::string const kind = count > 1 ? words[1] : "udp";
  double const seconds = count > 2 ? std::strtod(words[2], nullptr) : 60;
  if ((kind != "udp" && kind != "tcp") || seconds <= 0) {
    std::fprintf(stderr, "usage: %s [udp|tcp] [SECONDS]\n", words[0]);
    return 2;
  }
  double const search = std::min(2.0, seconds);
  Sums const highest = load(kind == "udp", 0, search, [](std::stop_token const&, Came&) {});
  double const rate = static_cast<double>(highest.answered) / search;
  std::printf("%s: at most %.0f records of 1 KiB a second; %.0f for %.0f s:\n", kind.c_str(), rate, 0.7 * rate,
              seconds);
  return hold(kind == "udp", 0.7 * rate, seconds) ? 0 : 1;
}
