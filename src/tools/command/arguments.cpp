// SPDX-License-Identifier: Apache-2.0
#include "tools/command/arguments.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "penstock/core/number_text.hpp"
#include "penstock/core/pool.hpp"
#include "penstock/core/words.hpp"
#include "penstock/machine/host_limits.hpp"
#include "penstock/machine/topology.hpp"
#include "tools/command/named_files.hpp"
#include "tools/command/offered_values.hpp"

namespace penstock::cli {
namespace {

/// None, if `text` is no number, or no finite one: "nan" lies in every range by CLI11's account.
std::optional<double> finite(std::string const& text) {
  double number = 0;
  bool const read = CLI::detail::lexical_cast(text, number);
  return read && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

/// In as few digits as people would write.
std::string plain(double number) {
  char text[32];
  auto const [end, problem] = std::to_chars(std::begin(text), std::end(text), number, std::chars_format::fixed);
  return {std::begin(text), end};
}

CLI::Validator takes(std::function<bool(std::string const&)> good, std::string const& what) {
  return {[good = std::move(good), what](std::string& text) -> std::string {
            return good(text) ? "" : "'" + text + "' is not " + what;
          },
          ""};
}

std::string up_to(std::size_t most) {
  return "At most " + std::to_string(most) + ". ";
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return takes(
      [least, most](std::string const& text) {
        std::uint64_t number = 0;
        auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
        return problem == std::errc{} && end == text.data() + text.size() && number >= least && number <= most;
      },
      "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
}

CLI::Validator number_between(double least, double most, std::string const& what) {
  return takes(
      [least, most](std::string const& text) {
        auto const number = finite(text);
        return number && *number >= least && *number <= most;
      },
      what + " from " + plain(least) + " to " + plain(most));
}

CLI::Validator number_above_zero(std::string const& what, std::string const& example) {
  return takes(
      [](std::string const& text) {
        auto const number = finite(text);
        return number && *number > 0;
      },
      what + " above 0, as in " + example);
}

ProfiledMachine machine_here(DeviceGroup const& devices) {
  DeviceInfo const info = devices.info();
  return {.cpu = HostLimits::read().cpu_model,
          .cpus = Topology::detect().cpus().size(),
          .device = info.name,
          .driver = info.driver,
          .flavour = std::string(flavour_name(devices.front().flavour()))};
}

ProfiledMachine machine_of_results(std::string const& results) {
  auto const json = nlohmann::json::parse(results);
  return {.cpu = json.at("machine").at("cpu").get<std::string>(),
          .cpus = json.at("machine").at("cpus").get<std::uint64_t>(),
          .device = json.at("device").at("name").get<std::string>()};
}

std::map<std::string, std::string> axis_values(Profile const& profile) {
  PipelineOptions const& options = profile.options;
  return {{"threads", std::to_string(options.producers)},
          {"lanes", std::to_string(options.lanes)},
          {"consumers", std::to_string(options.consumers)},
          {"tile", std::to_string(profile.tile_bytes)},
          {"depth", std::to_string(options.slots)},
          {"batch", std::to_string(options.batch)},
          {"tiles", std::to_string(options.tiles)},
          {"aim", std::string(to_string(options.aim))},
          {"signal", std::string(to_string(options.signal))},
          {"shape", std::string(to_string(options.shape))},
          // What allows `mapped` is the job, and this may be another.
          {"transport", options.transport == Transport::copies ? "copies" : "automatic"},
          {"graphs", std::string(to_string(options.graphs))},
          {"work", profile.job.work},
          {"fill", profile.job.fill},
          {"direction", profile.job.direction},
          {"streams", profile.job.streams},
          {"sink", profile.job.sink}};
}

void ProfileOption::add_to(CLI::App& command, std::string const& help, std::function<void(Profile const&)> take) {
  command.add_option("--profile", path, help)->type_name("FILE")->check(names_a_file());
  command.final_callback([this, take = std::move(take)] {
    if (path.empty()) return;
    profile = load_profile(path);
    take(*profile);
  });
}

void ProfileOption::warn(ProfiledMachine const& here) const {
  if (!profile) return;
  std::string const difference = profile->difference_to(here);
  if (!difference.empty()) std::fprintf(stderr, "penstock: %s: %s\n", path.c_str(), difference.c_str());
}

void PipelineArguments::add_to(CLI::App& command, std::string const& tile_sizes) {
  auto const add_count = [&](char const* name, auto& value, std::size_t most, std::string const& words) {
    command.add_option(name, value, words)->type_name("N")->check(whole_number(0, most));
  };
  command
      .add_option("--device", device,
                  "auto, cpu, cuda, cuda:N, several of them with commas, or all: every GPU, if there is one.\n"
                  "auto is the first GPU, or the CPU where there is none")
      ->type_name("NAME")
      ->check(offers(device_words));
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
  command.add_option("--aim", aim, std::string(what_aim_decides) + ". Default: throughput")
      ->type_name("NAME")
      ->check(offers(words_for(all_aims)));
  command.add_option("--signal", signal, "How lanes learn what is done: " + signal_names() + ". Default: callback")
      ->type_name("NAME")
      ->check(offers(signal_names()));
  command
      .add_option("--shape", shape, "Streams of a lane: split (upload, compute, download) or single. Default: split")
      ->type_name("NAME")
      ->check(offers(lane_shape_names()));
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
