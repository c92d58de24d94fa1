// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "penstock/flow/pipeline_options.hpp"
#include "tools/command/profile_option.hpp"

namespace penstock::cli {

/// More threads than any machine has; what is beyond is a slip of the finger.
inline constexpr std::size_t most_threads = 1024;

/// The options that every command with a pipeline has.
struct PipelineArguments {
  std::string device = "auto";
  unsigned producers = 0;
  unsigned lanes = 0;
  unsigned consumers = 0;
  unsigned slots = 0;
  unsigned batch = 0;
  std::string aim = "throughput";
  std::string signal = "callback";
  std::string shape = "split";
  std::string streams = "default";
  std::string tile;
  std::size_t tiles = 0;
  bool ordered = false;
  bool no_bind = false;
  std::optional<std::chrono::microseconds> spin;  ///< A profile's.
  ProfileOption profile;

  /// `tile_sizes` is what --help says of the sizes that a tile may have.
  void add_to(CLI::App& command, std::string const& tile_sizes);
  /// A pipeline's options but for the tile's shape.
  ///
  /// Throws: Error of kind bad_argument.
  PipelineOptions options() const;
  /// Bytes of a tile, or `preset` if none was asked for.
  ///
  /// Throws: Error of kind bad_argument.
  std::size_t tile_bytes(std::size_t preset) const;

 private:
  /// Takes the profile's values for all that `command` was not given.
  void take(Profile const& taken, CLI::App const& command);
};

}  // namespace penstock::cli
