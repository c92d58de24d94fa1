// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/options.hpp"

namespace penstock::measure {

/// What lanes compute on each tile.
enum class Work : std::uint8_t {
  copy,       ///< Nothing: in, out.
  transform,  ///< y = x + sqrt(sin^2 + cos^2), as penstock/kernels.hpp.
  busy,       ///< A kernel of one block that takes a stated time.
  hash,       ///< BLAKE3; `hashed_bytes` come back.
};

/// The topmost node of a tile's tree, as penstock/kernels.hpp has it.
inline constexpr std::size_t hashed_bytes = 112;

/// What producers do to each tile.
enum class Fill : std::uint8_t {
  none,    ///< Nothing: the tile goes as it is.
  memory,  ///< memcpy from ordinary memory, more than caches hold.
  file,    ///< read(2) of a file, round and round.
};

/// Which way tiles are copied.
enum class Direction : std::uint8_t { in, out, both };

/// One pipeline to be measured: a point of a sweep. A 0 means what the pipeline chooses by itself.
struct Setting {
  std::string device =
      {};                ///< What the devices are called, as open_devices takes it; empty for the only ones there are.
  unsigned threads = 0;  ///< Producers.
  unsigned lanes = 0;
  bool lanes_as_threads = false;  ///< As many lanes as threads, whatever `lanes` says.
  unsigned consumers = 0;
  std::size_t tile = std::size_t{1} << 20;  ///< Bytes.
  unsigned depth = 0;                       ///< Slots per lane.
  unsigned batch = 0;                       ///< The most tiles that a lane puts on the device at once.
  unsigned tiles = 0;                       ///< Pinned tiles in all.
  /// How long lanes watch their device before they sleep, and threads that wait for a tile or a result watch for these,
  /// the latter 20 us at most, unless the aim is latency.
  std::optional<std::chrono::microseconds> spin = {};
  SignalKind signal = SignalKind::callback;
  StreamMode streams = StreamMode::thread_default;
  LaneShape shape = LaneShape::split;
  Aim aim = Aim::throughput;
  Transport transport = Transport::automatic;
  Graphs graphs = Graphs::automatic;
  Work work = Work::transform;
  std::chrono::microseconds busy{20};  ///< For Work::busy.
  Fill fill = Fill::none;
  Direction direction = Direction::both;
  bool sink_on_lanes = false;

  /// What a tile of it is like; in place, if it goes both ways and has as much to bring back.
  TileShape shape_of_tile() const;
  /// The pipeline's options.
  PipelineOptions options() const;
  bool operator==(Setting const&) const = default;
};

/// Sets what the option `--name` sets, and says it the way it is said in results: "1", "4096", "callback", "busy:20us".
///
/// Throws: Error of kind bad_argument, with what would do.
std::string set(Setting& setting, std::string_view name, std::string const& value);

}  // namespace penstock::measure
