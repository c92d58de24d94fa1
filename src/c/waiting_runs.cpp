// SPDX-License-Identifier: Apache-2.0
// Functions of runs whose tiles wait for the program.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "c/adapters.hpp"
#include "c/calls.hpp"
#include "c/handles.hpp"
#include "c/lent_source.hpp"

#include "engine/core/pool.hpp"
#include "penstock/ingest/framing.hpp"

using namespace penstock;

namespace {

std::optional<c::FilesToRead> files_to_read(penstock_files const* given) {
  if (given == nullptr) return std::nullopt;
  penstock_files const all = c::sized(given, "files");
  if ((all.flags & ~std::uint64_t{PENSTOCK_LINES | PENSTOCK_DECOMPRESS | PENSTOCK_FOLLOW}) != 0) {
    throw Error(ErrorKind::unsupported, "The files have a flag that this version of the library does not know.");
  }
  if (all.count == 0) throw Error(ErrorKind::bad_argument, "There are no files: name one at least.");
  c::FilesToRead files;
  for (std::size_t i = 0; i < all.count; ++i)
    files.paths.emplace_back(&c::existing(c::existing(all.paths + i, "paths"), "paths"));
  if ((all.flags & PENSTOCK_LINES) != 0) files.options.framing = lines();
  files.options.text = (all.flags & PENSTOCK_LINES) != 0;
  files.options.decompress = (all.flags & PENSTOCK_DECOMPRESS) != 0;
  files.options.follow = (all.flags & PENSTOCK_FOLLOW) != 0;
  return files;
}

/// Writes to a structure of the program, which may be older or newer than this library.
template <class Structure>
void fill(Structure& place, Structure const& value) {
  std::size_t const bytes = std::min(place.size, sizeof(Structure));
  std::memcpy(&place, &value, bytes);
  place.size = bytes;
}

std::shared_ptr<c::WaitingRun> begun(penstock_pipeline& pipeline) {
  auto run = pipeline.waiting_run();
  if (run == nullptr)
    throw Error(ErrorKind::ended, "No tile will come: penstock_begin starts a run whose tiles wait for the program.");
  return run;
}

c::DevicePlaces& places_of(penstock_pipeline* pipeline) {
  auto const& places = c::existing(pipeline, "pipeline").places;
  if (places == nullptr) {
    throw Error(ErrorKind::bad_argument,
                "The results of this pipeline are in memory of the host: make it with PENSTOCK_ON_DEVICE.");
  }
  return *places;
}

}  // namespace

penstock_status penstock_begin(penstock_pipeline* pipeline, penstock_files const* files, penstock_stage const* stage) {
  return c::guarded([&] {
    penstock_pipeline& it = c::existing(pipeline, "pipeline");
    it.expect_idle();
    auto const input = files_to_read(files);
    it.begin(input, it.stages_of(stage));
  });
}

penstock_status penstock_next(penstock_pipeline* pipeline, std::int64_t at_most, penstock_completion* completion) {
  return c::guarded([&] {
    penstock_pipeline& it = c::existing(pipeline, "pipeline");
    penstock_completion shown = c::sized(completion, "completion");
    auto const run = begun(it);
    auto const limit = at_most < 0 ? std::nullopt : std::optional(std::chrono::nanoseconds(at_most));
    std::optional<Completion> taken = run->tiles().take(limit);
    shown = {};
    if (!taken) {
      if (run->tiles().over()) throw Error(ErrorKind::ended, "All tiles were taken: penstock_drain has the report.");
    } else {
      it.failures[taken->loan->index()] = taken->failure;
      if (it.places != nullptr) it.places->completed(*taken->loan, taken->outcome);
      c::show(*taken, shown);
      static_cast<void>(taken->loan.release());
    }
    fill(*completion, shown);
  });
}

penstock_status penstock_end_input(penstock_pipeline* pipeline) {
  return c::guarded([&] {
    auto const run = begun(c::existing(pipeline, "pipeline"));
    c::LentSource* const lent = c::lent_by(*run);
    lent != nullptr ? lent->end() : run->end_input();
  });
}

penstock_status penstock_begin_lent(penstock_pipeline* pipeline, std::uint64_t most, penstock_stage const* stage) {
  return c::guarded([&] {
    penstock_pipeline& it = c::existing(pipeline, "pipeline");
    it.expect_idle();
    std::size_t const tiles = it.pipeline.pool().size();
    std::stop_source stop;
    Stages stages = it.stages_of(stage);
    auto source = std::make_unique<c::LentSource>(tiles, it.pipeline.options().tile.input_bytes,
                                                  most > 0 ? most : 2 * tiles, stop.get_token());
    it.begin(std::move(source), "buffers", std::move(stages), stop);
  });
}

penstock_status penstock_lend(penstock_pipeline* pipeline, void const* data, std::size_t bytes, std::uint64_t tag,
                              void* handle, std::int64_t at_most, std::int32_t* lent) {
  return c::guarded([&] {
    auto const run = begun(c::existing(pipeline, "pipeline"));
    c::expect_bytes(data, bytes, "data");
    std::int32_t& place = c::existing(lent, "lent");
    c::LentSource* const source = c::lent_by(*run);
    if (source == nullptr)
      throw Error(ErrorKind::bad_argument, "This run takes no buffers: penstock_begin_lent starts one that does.");
    auto const limit = at_most < 0 ? std::nullopt : std::optional(std::chrono::nanoseconds(at_most));
    place = source->lend({static_cast<std::byte const*>(data), bytes}, tag, handle, limit) ? 1 : 0;
  });
}

std::size_t penstock_take_back(penstock_pipeline* pipeline, void** handles, std::size_t room) {
  auto const run = pipeline->waiting_run();
  c::LentSource* const source = run ? c::lent_by(*run) : nullptr;
  return source != nullptr ? source->take_back({handles, room}) : 0;
}

penstock_status penstock_tile_place(penstock_pipeline* pipeline, penstock_tile const* tile, penstock_place* place) {
  return c::guarded([&] {
    auto const run = begun(c::existing(pipeline, "pipeline"));
    static_cast<void>(c::sized(place, "place"));
    auto const at = run->place_of(reinterpret_cast<Tile const&>(c::existing(tile, "tile")));
    fill(*place, {.size = sizeof(penstock_place), .file = at.file, .offset = at.offset});
  });
}

penstock_status penstock_tile_on_device(penstock_pipeline* pipeline, penstock_tile const* tile,
                                        penstock_device_bytes* bytes) {
  return c::guarded([&] {
    c::DevicePlaces const& places = places_of(pipeline);
    static_cast<void>(c::sized(bytes, "bytes"));
    fill(*bytes, places.of(reinterpret_cast<Tile const&>(c::existing(tile, "tile"))));
  });
}

penstock_status penstock_tiles_used_in(penstock_pipeline* pipeline, penstock_tile* const* tiles, std::size_t count,
                                       void* cuda_stream) {
  return c::guarded([&] {
    c::DevicePlaces& places = places_of(pipeline);
    std::vector<Tile const*> all;
    for (std::size_t i = 0; i < count; ++i)
      all.push_back(reinterpret_cast<Tile const*>(&c::existing(c::existing(tiles + i, "tiles"), "tiles")));
    places.used_in(all, cuda_stream);
  });
}

std::uint64_t penstock_tile_count(penstock_pipeline const* pipeline) {
  return const_cast<penstock_pipeline*>(pipeline)->pipeline.pool().size();
}
