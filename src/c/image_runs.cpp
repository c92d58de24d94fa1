// SPDX-License-Identifier: Apache-2.0
// Runs whose tiles are batches of images.
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

#include "c/calls.hpp"
#include "c/handles.hpp"

#include "engine/core/pool.hpp"
#ifdef PENSTOCK_WITH_JPEG
#include "c/image_batches.hpp"
#endif

using namespace penstock;

#ifdef PENSTOCK_WITH_JPEG

penstock_status penstock_begin_images(penstock_pipeline* pipeline, penstock_images const* images) {
  return c::guarded([&] {
    penstock_pipeline& it = c::existing(pipeline, "pipeline");
    it.expect_idle();
    std::stop_source stop;
    TileShape shape = it.pipeline.options().tile;
    shape.output_bytes = it.output_bytes();
    auto source =
        std::make_unique<c::ImageBatches>(c::ImagesToRead(images), shape, it.pipeline.pool().size(), stop.get_token());
    Stages stages = it.placed(source->stages());
    it.begin(std::move(source), "images", std::move(stages), stop);
  });
}

penstock_status penstock_tile_problem(penstock_pipeline* pipeline, penstock_tile const* tile, std::uint64_t place,
                                      char const** reason) {
  return c::guarded([&] {
    auto const run = c::existing(pipeline, "pipeline").waiting_run();
    auto const* const images = run ? dynamic_cast<c::ImageBatches const*>(run->source()) : nullptr;
    if (images == nullptr)
      throw Error(ErrorKind::bad_argument, "The tile has no images: penstock_begin_images starts a run of some.");
    char const*& to = c::existing(reason, "reason");
    to = images->problem_of(reinterpret_cast<Tile const&>(c::existing(tile, "tile")), place);
  });
}

#else

namespace {

penstock_status refused() {
  return c::guarded([] {
    throw Error(
        ErrorKind::unsupported,
        "This build decodes no images, as libjpeg was not there: install libjpeg-dev, and build penstock again.");
  });
}

}  // namespace

penstock_status penstock_begin_images(penstock_pipeline*, penstock_images const*) {
  return refused();
}

penstock_status penstock_tile_problem(penstock_pipeline*, penstock_tile const*, std::uint64_t, char const**) {
  return refused();
}

#endif
