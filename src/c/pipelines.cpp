// SPDX-License-Identifier: Apache-2.0
// Devices, pipelines and reports of the C interface.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "c/adapters.hpp"
#include "c/calls.hpp"
#include "c/device_places.hpp"
#include "c/handles.hpp"
#include "c/lent_source.hpp"

#include "engine/core/pool.hpp"
#include "observe/option_table.hpp"
#include "observe/report_json.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/observe.hpp"
#include "penstock/pipeline.hpp"

using namespace penstock;

namespace {

/// The sentence of a command as one for a program, whose options have no dashes.
std::string without_dashes(std::string text) {
  for (std::size_t at = 0; (at = text.find("--", at)) != std::string::npos;) text.erase(at, 2);
  return text;
}

/// Sets the options that have a name.
///
/// Throws: Error of kind bad_argument.
void set_named(PipelineOptions& options, std::span<penstock_option const> named) {
  for (penstock_option const& one : named) {
    std::string const name = &c::existing(one.name, "name");
    std::string const value = &c::existing(one.value, "value");
    OptionRow const* const row = find_option(name);
    if (row == nullptr || !row->in(named_in::commands)) {
      throw Error(ErrorKind::bad_argument, "There is no option '" + name + "': docs/c.md lists them.");
    }
    if (name == "tile") {
      throw Error(ErrorKind::bad_argument, "The size of a tile is in input_bytes and output_bytes, not in an option.");
    }
    try {
      row->set(options, value);
    } catch (Error const& error) {
      throw Error(error.kind(), "The option " + without_dashes(error.what()));
    }
  }
}

PipelineOptions options_of(penstock_pipeline_options const* given) {
  penstock_pipeline_options const all = c::sized(given, "options");
  constexpr std::uint64_t known = PENSTOCK_IN_PLACE | PENSTOCK_PARALLEL_SINK | PENSTOCK_VERDICT | PENSTOCK_ON_DEVICE;
  if ((all.flags & ~known) != 0) {
    throw Error(ErrorKind::unsupported, "The options have a flag that this version of the library does not know.");
  }
  PipelineOptions options;
  options.tile.input_bytes = all.input_bytes;
  options.tile.output_bytes = all.output_bytes;
  for (std::size_t i = 0; i < most_more_inputs; ++i) options.tile.more_input_bytes[i] = all.more_input_bytes[i];
  options.tile.in_place = (all.flags & PENSTOCK_IN_PLACE) != 0;
  options.parallel_sink = (all.flags & PENSTOCK_PARALLEL_SINK) != 0;
  if ((all.flags & PENSTOCK_VERDICT) != 0) options.watching.hooks.push_back(verdicts());
  // What comes of it is mostly used in the legacy default stream, for which default streams of lanes would wait.
  if ((all.flags & PENSTOCK_ON_DEVICE) != 0) find_option("streams")->set(options, "own");
  if (all.option_count > 0) set_named(options, {&c::existing(all.options, "options"), all.option_count});
  return options;
}

}  // namespace

penstock_status penstock_devices_open(char const* names, penstock_devices** devices) {
  return c::guarded([&] {
    penstock_devices*& place = c::existing(devices, "devices");
    auto open = std::make_shared<Devices>(open_devices(&c::existing(names, "names")));
    place = new penstock_devices{std::move(open)};
  });
}

void penstock_devices_close(penstock_devices* devices) {
  delete devices;
}

std::uint32_t penstock_devices_count(penstock_devices const* devices) {
  return static_cast<std::uint32_t>(devices->open->size());
}

std::uint32_t penstock_devices_gpus(penstock_devices const* devices) {
  auto const on_gpu = [](Device* device) { return device->info().kind == DeviceKind::cuda; };
  return static_cast<std::uint32_t>(std::ranges::count_if(devices->open->all(), on_gpu));
}

penstock_status penstock_devices_json(penstock_devices const* devices, char** json) {
  return c::guarded([&] {
    char*& place = c::existing(json, "json");
    place = c::copied(devices_json(*c::existing(devices, "devices").open));
  });
}

penstock_status penstock_pipeline_create(penstock_devices* devices, penstock_pipeline_options const* options,
                                         penstock_pipeline** pipeline) {
  return c::guarded([&] {
    penstock_pipeline*& place = c::existing(pipeline, "pipeline");
    auto open = c::existing(devices, "devices").open;
    PipelineOptions set = options_of(options);
    bool const on_device = (options->flags & PENSTOCK_ON_DEVICE) != 0;
    if (on_device && set.tile.in_place) {
      throw Error(ErrorKind::bad_argument,
                  "Results that stay on a device have a place of their own: leave out PENSTOCK_IN_PLACE.");
    }
    bool const inputs = set.tile.output_bytes == 0;
    std::size_t const kept = inputs ? set.tile.input_bytes : set.tile.output_bytes;
    if (on_device) set.tile.output_bytes = 0;
    c::ResultKind const kind = !inputs                          ? c::ResultKind::of_stage
                               : kept < c::least_bytes_by_slots ? c::ResultKind::input_by_one_copy
                                                                : c::ResultKind::input_by_slot;
    if (on_device && kind == c::ResultKind::input_by_one_copy) set.tuning.transport = Transport::mapped;
    std::unique_ptr<penstock_pipeline> made(new penstock_pipeline{open, nullptr, Pipeline(*open, set)});
    if (on_device) made->places = std::make_unique<c::DevicePlaces>(*open, made->pipeline.pool().size(), kept, kind);
    place = made.release();
  });
}

void penstock_pipeline_destroy(penstock_pipeline* pipeline) {
  delete pipeline;
}

penstock_status penstock_run(penstock_pipeline* pipeline, penstock_source const* source, penstock_stage const* stage,
                             penstock_sink const* sink, penstock_report** report) {
  return c::guarded([&] {
    penstock_report*& place = c::existing(report, "report");
    c::CSource input(source);
    penstock_pipeline& it = c::existing(pipeline, "pipeline");
    place = new penstock_report{it.pipeline.run(input, it.placed(c::stages_of(stage)), it.placed(c::sink_of(sink)))};
  });
}

penstock_status penstock_start(penstock_pipeline* pipeline, penstock_stage const* stage, penstock_sink const* sink) {
  return c::guarded([&] {
    penstock_pipeline& it = c::existing(pipeline, "pipeline");
    it.pipeline.start(it.placed(c::stages_of(stage)), it.placed(c::sink_of(sink)));
  });
}

penstock_status penstock_borrow(penstock_pipeline* pipeline, penstock_tile** tile) {
  return c::guarded([&] {
    penstock_tile*& place = c::existing(tile, "tile");
    place = c::handle(*c::existing(pipeline, "pipeline").pipeline.feed().borrow().release());
  });
}

penstock_status penstock_try_borrow(penstock_pipeline* pipeline, penstock_tile** tile) {
  return c::guarded([&] {
    penstock_tile*& place = c::existing(tile, "tile");
    Feed const feed = c::existing(pipeline, "pipeline").pipeline.feed();
    std::optional<Loan> loan = feed.try_borrow();
    if (!loan) feed.expect_open();
    place = loan ? c::handle(*loan->release()) : nullptr;
  });
}

penstock_status penstock_submit(penstock_pipeline* pipeline, penstock_tile* tile) {
  return c::guarded([&] {
    Loan loan = Loan::resume(reinterpret_cast<Tile*>(&c::existing(tile, "tile")));
    c::existing(pipeline, "pipeline").pipeline.feed().submit(std::move(loan));
  });
}

penstock_status penstock_drain(penstock_pipeline* pipeline, penstock_report** report) {
  return c::guarded([&] {
    penstock_report*& place = c::existing(report, "report");
    penstock_pipeline& it = c::existing(pipeline, "pipeline");
    auto const run = it.waiting_run();
    c::LentSource* const lent = run ? c::lent_by(*run) : nullptr;
    if (lent != nullptr) lent->end();
    auto const drained = [&] { return run && !run->drained() ? run->drain() : it.pipeline.drain(); };
    try {
      place = new penstock_report{drained()};
    } catch (...) {
      if (lent != nullptr) lent->give_back_rest();
      throw;
    }
    if (lent != nullptr) {
      lent->give_back_rest();
    } else if (run && it.pipeline.pool().counts().lent == 0) {
      run->drop_source();  // Writers of a ring then know that nobody reads it any more.
    }
  });
}

void penstock_stop(penstock_pipeline* pipeline) {
  if (pipeline == nullptr) return;
  auto const run = pipeline->waiting_run();
  run ? run->stop() : pipeline->pipeline.stop();
}

penstock_status penstock_snapshot_json(penstock_pipeline* pipeline, char** json) {
  return c::guarded([&] {
    char*& place = c::existing(json, "json");
    place = c::copied(snapshot_json(c::existing(pipeline, "pipeline").pipeline.snapshot()));
  });
}

std::int32_t penstock_report_ok(penstock_report const* report) {
  return report != nullptr && report->report.ok() ? 1 : 0;
}

penstock_status penstock_report_text(penstock_report const* report, char** text) {
  return c::guarded([&] {
    char*& place = c::existing(text, "text");
    place = c::copied(describe(c::existing(report, "report").report));
  });
}

penstock_status penstock_report_json(penstock_report const* report, char** json) {
  return c::guarded([&] {
    char*& place = c::existing(json, "json");
    place = c::copied(report_json(c::existing(report, "report").report));
  });
}

void penstock_report_destroy(penstock_report* report) {
  delete report;
}
