// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/expect_fitting.hpp"

#include <string>

#include "penstock/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// "real numbers of 4 bytes".
std::string text(PartType type) {
  return (type.kind == PartType::Kind::real ? "real numbers of " : "whole numbers of ") +
         count_text(type.bytes, "byte");
}

void expect_same(std::string const& part, PartType of_stage, PartType of_tile) {
  if (of_stage.goes_with(of_tile)) return;
  throw Error(ErrorKind::bad_argument, "The stage takes " + part + " of a tile for " + text(of_stage) +
                                           ", but the tiles were made by tile_of for " + text(of_tile) +
                                           ": name the same types in DeviceTileOf and in tile_of.");
}

}  // namespace

void expect_fitting(TileTypes const& stage, TileShape const& shape) {
  std::size_t const inputs = 1 + shape.more_inputs().size();
  if (stage.inputs > inputs) {
    throw Error(ErrorKind::bad_argument, "The stage is one for tiles of " + count_text(stage.inputs, "input") +
                                             ", but the tiles of this pipeline have " + std::to_string(inputs) +
                                             ": make them by tile_of<Inputs<...>>, or give the stage fewer inputs.");
  }
  for (std::size_t which = 0; which < stage.inputs; ++which) {
    expect_same(stage.inputs == 1 ? "the input" : "input " + std::to_string(which + 1), stage.input[which],
                shape.types.input[which]);
  }
  if (shape.output_bytes > 0) expect_same("the output", stage.output, shape.types.output);
}

}  // namespace penstock
