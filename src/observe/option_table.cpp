// SPDX-License-Identifier: Apache-2.0
#include "observe/option_table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "engine/core/number_text.hpp"
#include "engine/core/words.hpp"
#include "engine/plan/option_bounds.hpp"

namespace penstock {
namespace {

using namespace named_in;

constexpr unsigned commands_and_axes = commands | axes;
constexpr unsigned everywhere = commands | axes | profiles;
constexpr std::string_view left_to_pipeline = "default";

/// Prefix of its name.
template <auto member>
constexpr std::string_view holder() {
  return requires(PipelineOptions options) {
    options.*member;
  }
  ? "" : "tuning.";
}

using bounds::ValueOf;

template <auto member>
constexpr OptionRow count(OptionRow row) {
  row.holder = holder<member>();
  row.most = bound_of(row.name).most;
  row.text = [](PipelineOptions const& options) { return std::to_string(option_in<member>(options)); };
  row.read = [](PipelineOptions& options, std::string_view text, std::uint64_t most) {
    auto const number = whole_number_of(text, most);
    if (number) option_in<member>(options) = static_cast<ValueOf<member>>(*number);
    return number.has_value();
  };
  return row;
}

template <auto member>
constexpr OptionRow time(OptionRow row) {
  row.kind = OptionKind::time;
  row.holder = holder<member>();
  row.most = bound_of(row.name).most;
  row.text = [](PipelineOptions const& options) {
    auto const& value = option_in<member>(options);
    return value ? std::to_string(value->count()) : std::string(left_to_pipeline);
  };
  row.read = [](PipelineOptions& options, std::string_view text, std::uint64_t most) {
    auto const number = whole_number_of(text, most);
    if (!number && text != left_to_pipeline) return false;
    option_in<member>(options).reset();
    if (number) option_in<member>(options) = std::chrono::microseconds(*number);
    return true;
  };
  return row;
}

/// The values of the enumeration have a to_string each.
template <auto member>
constexpr OptionRow word(OptionRow row) {
  row.kind = OptionKind::word;
  row.holder = holder<member>();
  row.words = bound_of(row.name).words;
  row.text = [](PipelineOptions const& options) { return std::string(to_string(option_in<member>(options))); };
  row.read = [](PipelineOptions& options, std::string_view text, std::uint64_t) {
    auto const found = find_word(values_of(ValueOf<member>{}), text);
    if (found) option_in<member>(options) = *found;
    return found.has_value();
  };
  return row;
}

template <auto member>
constexpr OptionRow yes_no(OptionRow row) {
  row.kind = OptionKind::yes_no;
  row.holder = holder<member>();
  row.words = [] { return std::string("yes, no"); };
  row.text = [](PipelineOptions const& options) { return std::string(option_in<member>(options) ? "yes" : "no"); };
  row.read = [](PipelineOptions& options, std::string_view text, std::uint64_t) {
    if (text != "yes" && text != "no") return false;
    option_in<member>(options) = text == "yes";
    return true;
  };
  return row;
}

/// A tile of one size, for input and output.
constexpr OptionRow size(OptionRow row) {
  row.kind = OptionKind::size;
  row.most = bound_of(row.name).most;
  row.text = [](PipelineOptions const& options) { return std::to_string(options.tile.largest_part()); };
  row.read = [](PipelineOptions& options, std::string_view text, std::uint64_t most) {
    std::uint64_t const bytes = parse_size(text);
    if (bytes > most) return false;
    options.tile = {.input_bytes = bytes, .output_bytes = bytes, .in_place = true};
    return true;
  };
  return row;
}

template <auto member>
constexpr OptionRow bytes(OptionRow row) {
  row = count<member>(row);
  row.kind = OptionKind::bytes;
  row.read = [](PipelineOptions& options, std::string_view text, std::uint64_t most) {
    std::uint64_t const number = parse_size(text);
    if (number <= most) option_in<member>(options) = number;
    return number <= most;
  };
  return row;
}

constexpr std::array rows{
    count<&PipelineOptions::producers>({.name = "producers",
                                        .sentence = "Threads that fill tiles with input",
                                        .places = everywhere | searches,
                                        .unit = "threads",
                                        .otherwise = "the CPUs that lanes and consumers leave free",
                                        .follows = "run-to-completion",
                                        .former = "threads"}),
    count<&PipelineOptions::lanes>(
        {.name = "lanes",
         .sentence = "Threads that drive the devices",
         .places = everywhere | searches,
         .unit = "threads",
         .otherwise = "1 for each; for one GPU 2, if tiles are below 1 MiB; without a GPU 1 for each 4 CPUs, at most "
                      "4; as many as CPUs with --run-to-completion",
         .follows = "run-to-completion"}),
    count<&PipelineOptions::consumers>({.name = "consumers",
                                        .sentence = "Threads that take results",
                                        .places = everywhere,
                                        .unit = "threads",
                                        .otherwise = "1"}),
    size({.name = "tile", .sentence = "Size of a tile", .places = everywhere | searches, .unit = "B"}),
    count<&Tuning::slots>(
        {.name = "slots",
         .sentence = "Tiles on the device at once, per lane",
         .places = everywhere | searches,
         .unit = "tiles",
         .otherwise = "4 batches; on a GPU 32 at least, if tiles are below 1 MiB; 16 with --aim latency",
         .follows = "run-to-completion",
         .former = "depth",
         .worth_trying = 512}),
    count<&Tuning::batch>(
        {.name = "batch",
         .sentence = "Tiles that a lane puts on the device at once",
         .places = everywhere,
         .unit = "tiles",
         .otherwise = "1; on a GPU 32 MiB of them, of those below 1 MiB 8 MiB, up to 128; of several GPUs 8 MiB "
                      "divided by their number; 4 with --aim latency",
         .follows = "slots tile run-to-completion",
         .worth_trying = 128,
         .in_all_profiles = false}),
    count<&Tuning::tiles>({.name = "tiles",
                           .sentence = "Pinned tiles in all: the most work in progress",
                           .places = everywhere,
                           .unit = "tiles",
                           .otherwise = "all slots, 2 per producer, 1 per consumer, and the rest of a batch; "
                                        "fewer with several GPUs and with --aim latency",
                           .follows = "producers lanes consumers slots batch aim memory run-to-completion"}),
    bytes<&Tuning::memory>({.name = "memory",
                            .sentence = "The most pinned memory that the tiles take in all",
                            .places = everywhere,
                            .unit = "B",
                            .otherwise = "what --tiles takes",
                            .follows = "tiles",
                            .in_all_profiles = false}),
    time<&Tuning::spin>(
        {.name = "spin",
         .sentence = "Microseconds that lanes watch their device before they sleep; threads that wait for tiles or "
                     "results do so for 20 at most, unless the aim is latency",
         .places = axes | profiles,
         .unit = "us",
         .otherwise = "200 on a GPU; 0 on the CPU and with event_block; for ever with --aim latency",
         .follows = "producers lanes consumers slots batch aim signal"}),
    word<&PipelineOptions::aim>(
        {.name = "aim",
         .enumeration = "Aim",
         .sentence = "What lanes, batch, slots, tiles, spin and watching are for where they are left to the pipeline:",
         .places = everywhere,
         .in_all_profiles = false}),
    word<&Tuning::signal>({.name = "signal",
                           .enumeration = "SignalKind",
                           .sentence = "How lanes learn what is done:",
                           .places = everywhere | searches}),
    word<&Tuning::streams>(
        {.name = "streams",
         .enumeration = "StreamMode",
         .sentence = "Where lanes compute: default (the thread's default stream) or own (a stream of the lane's)",
         .places = commands_and_axes}),
    word<&Tuning::shape>({.name = "shape",
                          .enumeration = "LaneShape",
                          .sentence = "Streams of a lane: split (upload, compute, download) or single",
                          .places = everywhere | searches,
                          .former_word = "adaptive"}),
    word<&Tuning::transport>(
        {.name = "transport",
         .enumeration = "Transport",
         .sentence = "Whether tiles are copied: automatic (not what is small or alone), copies, mapped",
         .places = axes | profiles,
         .promised = "mapped",
         .in_all_profiles = false}),
    word<&Tuning::graphs>(
        {.name = "graphs",
         .enumeration = "Graphs",
         .sentence = "Whether work is captured and launched as CUDA graphs: automatic (if it takes less time), never, "
                     "always",
         .places = axes | profiles,
         .in_all_profiles = false}),
    count<&Tuning::spare>({.name = "spare",
                           .sentence = "Multiprocessors of each GPU that the kernels of stages leave free",
                           .places = axes,
                           .unit = "multiprocessors",
                           .otherwise = "none"}),
    yes_no<&Tuning::run_to_completion>({.name = "run-to-completion",
                                        .sentence = "Without a GPU each lane fills a tile and computes it before it "
                                                    "takes the next; lanes are the producers, so without --producers, "
                                                    "--slots and --batch",
                                        .places = commands | axes | profiles,
                                        .follows = "producers slots batch",
                                        .in_all_profiles = false}),
    yes_no<&PipelineOptions::ordered>(
        {.name = "ordered", .sentence = "Take results in the order of the input", .places = commands_and_axes}),
    word<&Tuning::bind>({.name = "bind",
                         .enumeration = "Bind",
                         .sentence =
                             "Where threads and memory are kept: none, node (NUMA node of their device), cpu (there, "
                             "each thread on one CPU)",
                         .places = commands_and_axes,
                         .off = "none"})};

}  // namespace

std::span<OptionRow const> option_table() noexcept {
  return rows;
}

OptionRow const* find_option(std::string_view name) noexcept {
  auto const* const found = std::ranges::find(rows, name, &OptionRow::name);
  return found == rows.end() ? nullptr : found;
}

bool is_in_bytes(std::string_view name) noexcept {
  OptionRow const* const row = find_option(name);
  return row != nullptr && row->in_bytes();
}

}  // namespace penstock
