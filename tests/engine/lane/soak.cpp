// SPDX-License-Identifier: Apache-2.0
// Many tickets through each signal, and each tile looked at the moment it comes back: none may be lost, doubled, early
// or wrong. Exit codes: 0 all is well, 1 it is not, 2 the options were not understood.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/core/pool.hpp"
#include "engine/core/words.hpp"
#include "engine/lane/soak_ring.hpp"
#include "engine/machine/slab.hpp"
#include "penstock/models/devices.hpp"

namespace penstock {
namespace {

constexpr std::size_t tile_bytes = 4096;
/// Tiles that are out are lost once none has come back for this long.
constexpr std::chrono::seconds patience{30};

struct SoakOptions {
  std::string device = "auto";
  std::vector<std::string> signals{};
  std::vector<std::string> streams{"default"};
  std::vector<std::string> shapes{"split"};
  std::vector<std::string> transports{"copies"};
  std::uint64_t tickets = 20'000;
  double seconds = 0;
  unsigned lanes = 4;
  unsigned slots = 32;
  std::optional<unsigned> spin;  ///< Microseconds.

  void add_to(CLI::App& program) {
    program.add_option("--device", device, "auto, cpu, cuda or cuda:N. Default: auto");
    program.add_option("--signal", signals, "Of " + words_for(all_signal_kinds) + ". Default: all")->delimiter(',');
    program.add_option("--streams", streams, "default, own or both, with a comma. Default: default")
        ->delimiter(',')
        ->check(CLI::IsMember({"default", "own"}));
    program.add_option("--shape", shapes, "Of " + words_for(all_lane_shapes) + ". Default: split")->delimiter(',');
    program.add_option("--transport", transports, "Of " + words_for(all_transports) + ". Default: copies")
        ->delimiter(',');
    program.add_option("--tickets", tickets, "For each line of the table. Default: 20000")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 48));
    program.add_option("--seconds", seconds, "After which a line ends with what was done. Default: no limit")
        ->check(CLI::NonNegativeNumber);
    program.add_option("--lanes", lanes, "Each with tiles of its own. Default: 4")->check(CLI::Range(1, 64));
    program.add_option("--slots", slots, "Tiles on the device at once, per lane. Default: 32")
        ->check(CLI::Range(1, 500));
    program.add_option("--spin", spin, "Microseconds before a lane sleeps. Default: 200 on a GPU, else 0")
        ->check(CLI::Range(0U, 1'000'000U));
  }
};

/// All lanes of one signal, and the tiles that go round through them.
class Soak {
 public:
  Soak(Device& device, SoakOptions const& options, LaneOptions const& lane)
      : options_(options),
        tiles_(options.lanes * SoakRing::tiles_for(options.slots)),
        slab_(round_up(Pool::slab_bytes(shape, tiles_))),
        pinned_(device.pin(slab_.bytes())),
        pool_(slab_.bytes(), shape, tiles_) {
    std::uint64_t first = 0;
    for (unsigned i = 0; i < options.lanes; ++i) {
      std::uint64_t const tickets = options.tickets / options.lanes + (i < options.tickets % options.lanes ? 1 : 0);
      LaneOptions own = lane;
      own.name = "ps-lane-" + std::to_string(i);
      rings_.push_back(std::make_unique<SoakRing>(device, pool_, own, i, first, tickets, ending_, bell_));
      first += tickets;
    }
    start_ = std::chrono::steady_clock::now();
    for (auto const& ring : rings_) ring->start();
  }

  /// Waits for the end. Returns false if tiles stay away.
  bool run() {
    auto const all_ended = [this] {
      return std::all_of(rings_.begin(), rings_.end(), [](auto const& ring) { return ring->ended(); });
    };
    std::uint64_t last = 0;
    auto news = start_;
    while (!bell_.await(all_ended, std::chrono::nanoseconds(0), std::chrono::milliseconds(100))) {
      auto const now = std::chrono::steady_clock::now();
      if (options_.seconds > 0 && seconds_until(now) >= options_.seconds) ending_ = true;
      std::uint64_t const completed = counts().completed;
      if (completed != last) news = now;
      last = completed;
      if (now - news >= patience) return false;
    }
    seconds_ = seconds_until(std::chrono::steady_clock::now());
    for (auto const& ring : rings_) {
      LaneSummary const lane = ring->close();
      unsignalled_ += lane.found.by_watchdog;
      heard_ += lane.tickets;
    }
    return true;
  }
  SoakCounts counts() const {
    SoakCounts sum;
    for (auto const& ring : rings_) sum += ring->counts();
    return sum;
  }
  /// Time until all were back; 0 if some are not.
  double seconds() const { return seconds_; }
  /// Tiles that no signal told of.
  std::uint64_t unsignalled() const { return unsignalled_; }
  /// Tickets that reached the lanes; one tells of several tiles, and a lane that spins may need none.
  std::uint64_t heard() const { return heard_; }

 private:
  static constexpr TileShape shape{.input_bytes = tile_bytes, .output_bytes = tile_bytes, .in_place = true};
  static std::size_t round_up(std::size_t bytes) {
    return (bytes + Slab::alignment - 1) / Slab::alignment * Slab::alignment;
  }
  double seconds_until(std::chrono::steady_clock::time_point now) const {
    return std::chrono::duration<double>(now - start_).count();
  }

  SoakOptions const& options_;
  std::size_t const tiles_;
  Slab slab_;
  Pinned pinned_;
  Pool pool_;
  std::atomic<bool> ending_{false};
  EventCount bell_;
  std::chrono::steady_clock::time_point start_;
  double seconds_ = 0;
  std::uint64_t unsignalled_ = 0;
  std::uint64_t heard_ = 0;
  std::vector<std::unique_ptr<SoakRing>> rings_;
};

/// Prints one line of the table. Returns true if all is well.
bool soak(Device& device, SoakOptions const& options, LaneOptions lane) {
  lane.flight.slots = options.slots;
  bool const on_gpu = device.info().kind == DeviceKind::cuda;
  lane.spin = std::chrono::microseconds(options.spin.value_or(on_gpu ? 200 : 0));
  auto soak = std::make_unique<Soak>(device, options, lane);
  bool const all_back = soak->run();
  SoakCounts const counts = soak->counts();
  std::printf("%-18s %-7s %-6s %-9s %5lld %11llu %9.2f %9.0f", std::string(to_string(lane.signal)).c_str(),
              lane.flight.streams == StreamMode::own ? "own" : "default",
              std::string(to_string(lane.flight.shape)).c_str(), std::string(to_string(lane.flight.transport)).c_str(),
              static_cast<long long>(lane.spin.count() / 1000), static_cast<unsigned long long>(counts.completed),
              soak->seconds(), soak->seconds() > 0 ? static_cast<double>(counts.completed) / soak->seconds() : 0);
  for (std::uint64_t const count : {counts.lost(), counts.doubled, counts.early, counts.wrong, counts.disordered,
                                    counts.failed, soak->unsignalled(), soak->heard()})
    std::printf(" %11llu", static_cast<unsigned long long>(count));
  if (counts.submitted < options.tickets)
    std::printf("  of %llu tickets, in the time there was", static_cast<unsigned long long>(options.tickets));
  std::printf("\n");
  std::fflush(stdout);
  if (!all_back) {
    std::fprintf(stderr, "penstock_lane_soak: no tile came back for %lld s; its lanes cannot be ended\n",
                 static_cast<long long>(patience.count()));
    std::_Exit(1);  // Lanes wait for what they have.
  }
  return counts.clean();
}

int run(SoakOptions const& options) {
  std::vector<SignalKind> signals(all_signal_kinds.begin(), all_signal_kinds.end());
  if (!options.signals.empty()) {
    signals.clear();
    for (std::string const& name : options.signals) signals.push_back(parse_word(all_signal_kinds, name, "signal"));
  }
  auto const device = open_device(options.device);
  std::printf("%s, %u lanes of %u slots, tiles of %zu bytes\n", device->info().name.c_str(), options.lanes,
              options.slots, tile_bytes);
  std::printf("%-18s %-7s %-6s %-9s %5s %11s %9s %9s", "signal", "streams", "shape", "transport", "spin", "tickets",
              "seconds", "tiles/s");
  for (char const* column : {"lost", "doubled", "early", "wrong", "disordered", "failed", "unsignalled", "heard"})
    std::printf(" %11s", column);
  std::printf("\n");
  bool clean = true;
  for (SignalKind const signal : signals) {
    for (std::string const& streams : options.streams) {
      for (std::string const& shape : options.shapes) {
        for (std::string const& transport : options.transports) {
          LaneOptions lane;
          lane.signal = signal;
          lane.flight.streams = streams == "own" ? StreamMode::own : StreamMode::thread_default;
          lane.flight.shape = parse_word(all_lane_shapes, shape, "shape");
          lane.flight.transport = parse_word(all_transports, transport, "transport");
          clean = soak(*device, options, lane) && clean;
        }
      }
    }
  }
  return clean ? 0 : 1;
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  try {
    CLI::App program("Many tickets through each signal of a lane, and each tile looked at when it comes back");
    penstock::SoakOptions options;
    options.add_to(program);
    try {
      program.parse(argc, argv);
    } catch (CLI::ParseError const& error) {
      return program.exit(error) == 0 ? 0 : 2;
    }
    return penstock::run(options);
  } catch (std::exception const& exception) {
    std::fprintf(stderr, "penstock_lane_soak: %s\n", exception.what());
    return 2;
  }
}
