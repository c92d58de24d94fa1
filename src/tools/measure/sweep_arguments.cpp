// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/sweep_arguments.hpp"

#include <array>
#include <cctype>
#include <cstdio>
#include <string_view>

#include "penstock/core/number_text.hpp"
#include "tools/command/arguments.hpp"
#include "tools/command/ending.hpp"
#include "tools/command/named_files.hpp"
#include "tools/command/offered_values.hpp"
#include "tools/command/program.hpp"

namespace penstock::cli {
namespace {

/// "4KiB" for "4kb", "4 KB" and the like; empty for what is no size in a unit of 1000 bytes.
std::string in_1024(std::string const& size) {
  std::size_t const digits = size.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string::npos) return "";
  std::string unit = size.substr(digits);
  if (unit.front() == ' ') unit.erase(0, 1);
  for (char& letter : unit) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  if (unit != "KB" && unit != "MB" && unit != "GB" && unit != "TB") return "";
  return size.substr(0, digits) + unit.front() + "iB";
}

struct AxisOption {
  char const* name;
  char const* alias;  ///< What other commands call it; empty if the same.
  char const* preset;
  char const* help;
  char const* values = "";  ///< What completion offers; empty if it is a number.
};

constexpr std::array axis_options{
    AxisOption{"threads", "producers", "0", "Producers: threads that fill tiles"},
    AxisOption{"lanes", "", "0", "Threads that drive the devices; 'threads' for as many as producers"},
    AxisOption{"consumers", "", "0", "Threads that take results"},
    AxisOption{"tile", "", "1MiB", "Size of a tile"},
    AxisOption{"depth", "slots", "0", "Tiles on the device at once, per lane"},
    AxisOption{"batch", "", "0", "Tiles that a lane puts on the device at once, at most"},
    AxisOption{"tiles", "", "0", "Pinned tiles in all: the most work in progress"},
    AxisOption{
        "spin", "", "default",
        "Microseconds that lanes watch their device before they sleep; threads that wait for tiles or results do so "
        "for 20 at most, unless the aim is latency"},
    AxisOption{"aim", "", "throughput", what_aim_decides, "throughput, latency"},
    AxisOption{"signal", "", "callback", "How lanes learn what is done; penstock hash --help lists them",
               "callback, callback_in_stream, host_func, event_poll, event_block, flag"},
    AxisOption{"streams", "", "default", "Where lanes compute: default (the thread's default stream), own",
               "default, own"},
    AxisOption{"shape", "", "split", "Streams of a lane: split (upload, compute, download), single", "split, single"},
    AxisOption{"transport", "", "automatic", "Whether tiles are copied: automatic (not small work), copies, mapped",
               "automatic, copies, mapped"},
    AxisOption{"graphs", "", "automatic",
               "Whether work is captured and launched as CUDA graphs: automatic (if it takes less time), never, always",
               "automatic, never, always"},
    AxisOption{"work", "", "transform", "What is computed: copy (nothing), transform, busy:20us, hash",
               "copy, transform, busy:20us, hash"},
    AxisOption{"fill", "", "none", "What producers do: none, memcpy, file (needs --file)", "none, memcpy, file"},
    AxisOption{"direction", "", "both", "Which way tiles go: in, out, both", "in, out, both"},
    AxisOption{"sink", "", "graph", "Where results are taken: graph (consumers), lanes (at once)", "graph, lanes"}};

std::string in_bytes(std::string const& sizes) {
  std::string list;
  for (std::string const& bytes : measure::parse_axis("tile", sizes).values) list += (list.empty() ? "" : ",") + bytes;
  return list;
}

}  // namespace

std::string size_remark(std::string const& option, std::string const& list) {
  for (std::size_t from = 0; from < list.size();) {
    std::size_t const end = list.find_first_of(",.*", from);
    std::string const size = list.substr(from, end - from);
    if (std::string const other = in_1024(size); !other.empty()) {
      std::string text = option;
      text.append(" ").append(size).append(" is ").append(std::to_string(parse_size(size)));
      text.append(" bytes; ").append(other).append(" is ").append(std::to_string(parse_size(other)));
      return text.append(".");
    }
    if (end == std::string::npos) break;
    from = end + 1;
  }
  return "";
}

void say_size_remark(std::string const& option, std::string const& list) {
  std::string const remark = size_remark(option, list);
  if (!remark.empty()) std::fprintf(stderr, "penstock: %s\n", remark.c_str());
}

void AxisOptions::add_to(CLI::App& command, std::map<std::string, std::string> const& presets) {
  for (AxisOption const& axis : axis_options) {
    auto const other = presets.find(axis.name);
    std::string const preset = other != presets.end() ? other->second : axis.preset;
    lists[axis.name] = preset;
    std::string const alias = *axis.alias == 0 ? "" : ",--" + std::string(axis.alias);
    command
        .add_option("--" + std::string(axis.name) + alias, lists[axis.name],
                    std::string(axis.help) + ". Default: " + preset)
        ->type_name("LIST")
        ->check(offers(axis.values));
  }
  command.footer(
      "LIST is a list as in 1,2,4, a range as in 1..4, or one that multiplies, as in 1..16*2 or 4KiB..1MiB*4; 0 is "
      "what\n"
      "suits the machine. A size is in bytes, or in KiB, MiB, GiB (1024-fold) or kB, MB, GB (1000-fold).\n"
      "Every combination is a point. Rounds over all points alternate, so that what drifts meets all alike.");
}

void AxisOptions::add_devices_to(CLI::App& command) {
  command
      .add_option("--device", devices,
                  "auto, cpu, cuda, cuda:N, several of them with commas, or all: every GPU, if there is one.\n"
                  "Named more than once, one after the other. Default: auto")
      ->type_name("NAME")
      ->check(offers(device_words))
      ->allow_extra_args(false);
}

void AxisOptions::set(std::string const& axis, std::string const& value) {
  if (axis == "device") {
    devices = {value};
  } else {
    lists[axis] = value;
  }
}

void AxisOptions::add_profile_to(CLI::App& command) {
  profile.add_to(command, profile_fills_in, [this, &command](Profile const& taken) {
    std::string const usual_batch = lists["batch"];
    for (auto const& [axis, value] : axis_values(taken)) {
      if (command.count("--" + axis) == 0) lists[axis] = value;
    }
    // A batch follows from these two, and with one of them changed it is for the pipeline to choose.
    bool const batch_follows = command.count("--batch") == 0;
    if (batch_follows && command.count("--depth") + command.count("--tile") > 0) lists["batch"] = usual_batch;
    // The number of tiles follows from these, and with one of them changed it is for the pipeline to choose.
    bool const follows = command.count("--tiles") == 0;
    for (char const* const axis : {"--threads", "--lanes", "--consumers", "--depth", "--batch", "--aim"}) {
      if (follows && command.count(axis) > 0) lists["tiles"] = "0";
    }
  });
}

std::vector<measure::Axis> AxisOptions::axes() const {
  std::vector<measure::Axis> all;
  if (devices.size() > 1) all.push_back(measure::axis_of("device", devices));
  for (AxisOption const& axis : axis_options) all.push_back(measure::parse_axis(axis.name, lists.at(axis.name)));
  for (measure::Point const& point : measure::points_of(all)) static_cast<void>(point.setting.options());
  return all;
}

void AxisOptions::remark_on_sizes() const {
  say_size_remark("--tile", lists.at("tile"));
}

std::vector<std::string> AxisOptions::arguments() const {
  std::vector<std::string> all;
  for (std::string const& device : devices) all.insert(all.end(), {"--device", device});
  for (AxisOption const& axis : axis_options) {
    all.push_back("--" + std::string(axis.name));
    std::string const& list = lists.at(axis.name);
    all.push_back(std::string_view(axis.name) == "tile" ? in_bytes(list) : list);
  }
  return all;
}

void SweepArguments::add_to(CLI::App& command, std::map<std::string, std::string> const& presets) {
  axes.add_to(command, presets);
  axes.add_profile_to(command);
  axes.add_devices_to(command);
  command.add_option("--file", file, "What --fill file reads")->type_name("FILE")->check(names_a_file());
  command.add_option("--window", milliseconds, "Milliseconds that count of each run. Default: 200")
      ->type_name("MS")
      ->check(whole_number(10, 60'000));
  auto& as_data = *command.add_flag("--json", json, "Print JSON, as docs/results.md says");
  command.add_flag("--csv", csv, "Print a line for each point, with commas")->excludes(&as_data);
  command.add_option("--html", html, "Also write a page with charts, timeline and data to this file")
      ->type_name("FILE")
      ->check(names_a_file());
}

std::vector<std::string> SweepArguments::round(std::string const& program, AxisOptions const& points) const {
  std::vector<std::string> all{program, "bench", "--json", "--repeats", "1"};
  all.insert(all.end(), {"--window", std::to_string(milliseconds)});
  if (!file.empty()) all.insert(all.end(), {"--file", file});
  for (std::string const& argument : points.arguments()) all.push_back(argument);
  return all;
}

std::vector<std::string> SweepArguments::one_round(std::string const& program, AxisOptions const& points,
                                                   unsigned order) const {
  auto all = round(program, points);
  all.insert(all.end(), {"--load", "0", "--no-ceilings", "--no-verdict", "--order", std::to_string(order)});
  return all;
}

std::vector<std::string> SweepArguments::judged_round(std::string const& program, AxisOptions const& points,
                                                      std::span<std::size_t const> only) const {
  auto all = round(program, points);
  std::string list;
  for (std::size_t const point : only) list += (list.empty() ? "" : ",") + std::to_string(point);
  all.insert(all.end(), {"--only", list});
  return all;
}

FilesToWrite SweepArguments::files_to_write(TraceArguments const& trace, std::stop_token const& stop) const {
  trace.check();
  return {std::vector<NamedFile>{{"--file", file}, {"--profile", axes.profile.path}},
          std::vector<NamedFile>{{"--html", html}, trace.named()}, stop};
}

void SweepArguments::warn_of_foreign_profile(std::optional<Flavour> flavour, std::stop_token const& stop) const {
  if (!axes.profile.profile) return;
  ChildEnd const end =
      run_child({this_program(), "bench", "--json", "--no-points", "--device", axes.devices.front()}, stop);
  if (end.code != exit_ok) return;  // The process that measures will say why.
  ProfiledMachine here = machine_of_results(end.output);
  if (flavour) here.flavour = flavour_name(*flavour);
  axes.profile.warn(here);
}

}  // namespace penstock::cli
