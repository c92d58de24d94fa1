// SPDX-License-Identifier: Apache-2.0
#include "tools/command/pipeline_arguments.hpp"

#include "penstock/core/pool.hpp"
#include "penstock/core/size_text.hpp"
#include "tools/command/number_check.hpp"

namespace penstock::cli {
namespace {

std::string up_to(std::size_t most) {
  return "At most " + std::to_string(most) + ". ";
}

}  // namespace

void PipelineArguments::add_to(CLI::App& command, std::string const& tile_sizes) {
  auto const add_count = [&](char const* name, auto& value, std::size_t most, std::string const& words) {
    command.add_option(name, value, words)->type_name("N")->check(whole_number(0, most));
  };
  command
      .add_option("--device", device,
                  "auto, cpu, cuda, cuda:N, several of them with commas, or all: every GPU, if there is one.\n"
                  "auto is the first GPU, or the CPU where there is none")
      ->type_name("NAME");
  add_count(
      "--producers", producers, most_threads,
      "Threads that read input. " + up_to(most_threads) + "Default: the CPUs that lanes and consumers leave free");
  add_count("--lanes", lanes, most_threads,
            "Threads that drive the devices. " + up_to(most_threads) +
                "Default: 1 for each; per GPU 2, if tiles are below 1 MiB");
  add_count("--consumers", consumers, most_threads, "Threads that take results. " + up_to(most_threads) + "Default: 1");
  add_count("--slots", slots, Pool::max_tiles,
            "Tiles on the device at once, per lane. " + up_to(Pool::max_tiles) +
                "Default: 4 batches; on a GPU 32 at least, if tiles are below 1 MiB; 16 with --aim latency");
  add_count("--batch", batch, Pool::max_tiles,
            "Tiles that a lane puts on the device at once. " + up_to(Pool::max_tiles) +
                "Default: 1; on a GPU 32 MiB of them, of those below 1 MiB 8 MiB, up to 128; of several GPUs 4 MiB or "
                "2 tiles; 4 with --aim latency");
  command.add_option("--aim", aim, std::string(what_aim_decides) + ". Default: throughput")->type_name("NAME");
  command.add_option("--signal", signal, "How lanes learn what is done: " + signal_names() + ". Default: callback")
      ->type_name("NAME");
  command
      .add_option("--shape", shape, "Streams of a lane: split (upload, compute, download) or single. Default: split")
      ->type_name("NAME");
  command
      .add_option("--streams", streams,
                  "Where lanes compute: default (the thread's default stream) or own (a stream of the lane's).\n"
                  "Default: default")
      ->type_name("NAME")
      ->check(CLI::IsMember({"default", "own"}));
  command.add_option("--tile", tile, "Size of a tile: " + tile_sizes)->type_name("SIZE");
  add_count(
      "--tiles", tiles, Pool::max_tiles,
      "Pinned tiles in all: the most work in progress. " + up_to(Pool::max_tiles) +
          "Default: all slots, 2 per producer, 1 per consumer, and the rest of a batch; fewer with --aim latency");
  profile.add_to(command, profile_fills_in, [this, &command](Profile const& taken) { take(taken, command); });
  command.add_flag("--ordered", ordered, "Take results in the order of the input");
  command.add_flag("--no-bind", no_bind, "Leave threads and memory where the system puts them");
  command.footer(
      "N is a whole number; 0 means the default. SIZE is a whole number of bytes, or of KiB, MiB, GiB (1024-fold) or\n"
      "kB, MB, GB (1000-fold).\n" +
      command.get_footer());
}

void PipelineArguments::take(Profile const& taken, CLI::App const& command) {
  auto const named = [&](char const* option) { return command.count(option) > 0; };
  PipelineOptions const& options = taken.options;
  if (!named("--producers")) producers = options.producers;
  if (!named("--lanes")) lanes = options.lanes;
  if (!named("--consumers")) consumers = options.consumers;
  if (!named("--slots")) slots = options.slots;
  // It follows from these two, and with one of them changed it is for the pipeline to choose.
  if (!named("--batch") && !named("--slots") && !named("--tile")) batch = options.batch;
  if (!named("--aim")) aim = to_string(options.aim);
  if (!named("--signal")) signal = to_string(options.signal);
  if (!named("--shape")) shape = to_string(options.shape);
  if (!named("--tile")) tile = std::to_string(taken.tile_bytes);
  // These two follow from the others, and with one of those changed they are for the pipeline to choose.
  for (char const* const option :
       {"--producers", "--lanes", "--consumers", "--slots", "--batch", "--aim", "--signal"}) {
    if (named(option)) return;
  }
  if (!named("--tiles")) tiles = options.tiles;
  spin = options.spin;
}

PipelineOptions PipelineArguments::options() const {
  PipelineOptions options;
  options.producers = producers;
  options.lanes = lanes;
  options.consumers = consumers;
  options.slots = slots;
  options.batch = batch;
  options.aim = parse_aim(aim);
  options.signal = parse_signal_kind(signal);
  options.shape = parse_lane_shape(shape);
  options.streams = streams == "own" ? StreamMode::own : StreamMode::thread_default;
  options.tiles = tiles;
  options.spin = spin;
  options.ordered = ordered;
  options.bind = !no_bind;
  return options;
}

std::size_t PipelineArguments::tile_bytes(std::size_t preset) const {
  return tile.empty() ? preset : parse_size(tile);
}

}  // namespace penstock::cli
