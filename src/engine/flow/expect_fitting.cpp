// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/expect_fitting.hpp"

#include <string>

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// "real numbers of 4 bytes".
std::string text(PartType type) {
  return (type.kind == PartType::Kind::real ? "real numbers of " : "whole numbers of ") +
         count_text(type.bytes, "byte");
}

/// What is compared with the tiles, in words.
struct Compared {
  char const* subject;
  char const* verb;
  char const* named_in;  ///< Place where its types are named.
  char const* remedy;    ///< Remedy if the tiles have too few inputs.
};
constexpr Compared a_stage{"The stage", "takes", "DeviceTileOf", "give the stage fewer inputs"};
constexpr Compared a_source{"The source", "fills", "generate", "let the source fill fewer inputs"};

void expect_same(Compared const& of, std::string const& part, PartType own, PartType of_tile) {
  if (own.goes_with(of_tile)) return;
  throw Error(ErrorKind::bad_argument, std::string(of.subject) + ' ' + of.verb + ' ' + part + " of a tile for " +
                                           text(own) + ", but the tiles were made by tile_of for " + text(of_tile) +
                                           ": name the same types in " + of.named_in + " and in tile_of.");
}

void expect_inputs(Compared const& of, TileTypes const& types, TileShape const& shape) {
  std::size_t const inputs = 1 + shape.more_inputs().size();
  if (types.inputs > inputs) {
    throw Error(ErrorKind::bad_argument, std::string(of.subject) + " is one for tiles of " +
                                             count_text(types.inputs, "input") +
                                             ", but the tiles of this pipeline have " + std::to_string(inputs) +
                                             ": make them by tile_of<Inputs<...>>, or " + of.remedy + '.');
  }
  for (std::size_t which = 0; which < types.inputs; ++which) {
    expect_same(of, types.inputs == 1 ? "the input" : "input " + std::to_string(which + 1), types.input[which],
                shape.types.input[which]);
  }
}

}  // namespace

void expect_fitting(TileTypes const& stage, TileShape const& shape) {
  expect_inputs(a_stage, stage, shape);
  if (shape.output_bytes > 0) expect_same(a_stage, "the output", stage.output, shape.types.output);
}

void expect_filling(TileTypes const& source, TileShape const& shape) {
  expect_inputs(a_source, source, shape);
}

}  // namespace penstock
