// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/pipeline_arguments.hpp"

#include "penstock/core/error.hpp"
#include "penstock/core/pool.hpp"
#include "penstock/core/size_text.hpp"

namespace penstock::cli {
namespace {

/// More threads than any machine has; what is beyond is a slip of the finger.
constexpr unsigned most_threads = 1024;

void expect_at_most(char const* option, std::size_t value, std::size_t most) {
  if (value > most) {
    throw Error(ErrorKind::bad_argument, std::string(option) + " is " + std::to_string(value) + ": ask for at most " +
                                             std::to_string(most) + ".");
  }
}

}  // namespace

void PipelineArguments::add_to(CLI::App& command) {
  command
      .add_option("--device", device,
                  "auto, cpu, cuda or cuda:N. auto is the first GPU, or the CPU where there is none")
      ->type_name("NAME");
  command.add_option("--producers", producers, "Threads that read input. Default: the CPUs that the rest leaves free")
      ->type_name("N");
  command.add_option("--lanes", lanes, "Threads that drive the device. Default: 2 per GPU, 1 for the CPU")
      ->type_name("N");
  command.add_option("--consumers", consumers, "Threads that take results. Default: 1")->type_name("N");
  command.add_option("--slots", slots, "Tiles on the device at once, per lane. Default: 4")->type_name("N");
  command.add_option("--tile", tile, "Size of a tile, like 4MiB")->type_name("SIZE");
  command
      .add_option("--tiles", tiles, "Pinned tiles in all: the most work in progress. Default: enough for all threads")
      ->type_name("N");
  command.add_flag("--ordered", ordered, "Take results in the order of the input");
  command.add_flag("--no-bind", no_bind, "Leave threads and memory where the system puts them");
}

PipelineOptions PipelineArguments::options() const {
  expect_at_most("--producers", producers, most_threads);
  expect_at_most("--lanes", lanes, most_threads);
  expect_at_most("--consumers", consumers, most_threads);
  expect_at_most("--slots", slots, Pool::max_tiles);
  expect_at_most("--tiles", tiles, Pool::max_tiles);
  PipelineOptions options;
  options.producers = producers;
  options.lanes = lanes;
  options.consumers = consumers;
  options.slots = slots;
  options.tiles = tiles;
  options.ordered = ordered;
  options.bind = !no_bind;
  return options;
}

std::size_t PipelineArguments::tile_bytes(std::size_t preset) const {
  return tile.empty() ? preset : parse_size(tile);
}

}  // namespace penstock::cli
