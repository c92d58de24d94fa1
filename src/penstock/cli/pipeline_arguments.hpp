// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "penstock/flow/pipeline_options.hpp"

namespace penstock::cli {

/// The options that every command with a pipeline has.
struct PipelineArguments {
  std::string device = "auto";
  unsigned producers = 0;
  unsigned lanes = 0;
  unsigned consumers = 0;
  unsigned slots = 0;
  std::string tile;
  std::size_t tiles = 0;
  bool ordered = false;
  bool no_bind = false;

  void add_to(CLI::App& command);
  /// Checks what the parser cannot, and fills a pipeline's options but for the tile's shape.
  ///
  /// Throws: Error of kind bad_argument.
  PipelineOptions options() const;
  /// Bytes of a tile, or `preset` if none was asked for.
  ///
  /// Throws: Error of kind bad_argument.
  std::size_t tile_bytes(std::size_t preset) const;
};

}  // namespace penstock::cli
