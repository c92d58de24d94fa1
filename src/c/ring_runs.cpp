// SPDX-License-Identifier: Apache-2.0
// Runs of what other processes write into shared memory, and the writers.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "c/adapters.hpp"
#include "c/calls.hpp"
#include "c/handles.hpp"

#include "engine/core/pool.hpp"
#include "penstock/ingest/shared_ring.hpp"

using namespace penstock;

struct penstock_writer {
  SharedRingWriter writer;
};

namespace {

/// Memory of a ring, pinned with each device that acts as a GPU.
struct PinnedRing {
  PinnedRing(std::string path, SharedRingShape const& shape, Devices const& devices) : ring(std::move(path), shape) {
    pins.push_back(devices.front().pin(ring.memory()));
  }
  SharedRing ring;
  std::vector<Pinned> pins;
};

/// A source of a ring that it has.
class RingInput final : public Source {
 public:
  RingInput(std::unique_ptr<PinnedRing> ring, Pool const& pool, SharedRingSourceOptions const& options)
      : ring_(std::move(ring)), source_(ring_->ring, pool, options) {}
  bool next(Tile& tile) override { return source_.next(tile); }
  std::size_t fill(Tile& tile) override { return source_.fill(tile); }
  std::vector<std::string> remarks() const override { return source_.remarks(); }
  std::vector<LeftOut> left_out() const override { return source_.left_out(); }

 private:
  std::unique_ptr<PinnedRing> ring_;
  SharedRingSource source_;
};

}  // namespace

penstock_status penstock_begin_ring(penstock_pipeline* pipeline, penstock_ring const* ring,
                                    penstock_stage const* stage) {
  return c::guarded([&] {
    penstock_pipeline& it = c::existing(pipeline, "pipeline");
    penstock_ring const given = c::sized(ring, "ring");
    it.expect_idle();
    SharedRingShape shape;
    shape.slot_bytes = it.pipeline.options().tile.input_bytes;
    if (given.slots > 0) shape.slots = given.slots;
    if (given.writers > 0) shape.writers = given.writers;
    std::stop_source stop;
    SharedRingSourceOptions options;
    options.stop = stop.get_token();
    options.writers = shape.writers;
    // At least a millisecond, as 0 would be no silence at all.
    if (given.idle > 0) options.idle = std::chrono::milliseconds((given.idle + 999'999) / 1'000'000);
    Stages stages = it.stages_of(stage);
    auto memory = std::make_unique<PinnedRing>(&c::existing(given.path, "path"), shape, *it.devices);
    auto source = std::make_unique<RingInput>(std::move(memory), it.pipeline.pool(), options);
    it.begin(std::move(source), "pieces", std::move(stages), stop);
  });
}

penstock_status penstock_writer_open(char const* path, penstock_writer** writer) {
  return c::guarded([&] {
    penstock_writer*& place = c::existing(writer, "writer");
    place = new penstock_writer{SharedRingWriter(std::string(&c::existing(path, "path")))};
  });
}

penstock_status penstock_writer_claim(penstock_writer* writer, std::int64_t at_most, penstock_bytes* slot) {
  return c::guarded([&] {
    SharedRingWriter& it = c::existing(writer, "writer").writer;
    penstock_bytes& place = c::existing(slot, "slot");
    std::optional<std::span<std::byte>> const room =
        at_most < 0 ? it.claim() : it.try_claim(std::chrono::nanoseconds(at_most));
    place = room ? penstock_bytes{room->data(), room->size()} : penstock_bytes{};
  });
}

penstock_status penstock_writer_commit(penstock_writer* writer, std::size_t bytes, std::uint64_t tag) {
  return c::guarded([&] { c::existing(writer, "writer").writer.commit(bytes, tag); });
}

void penstock_writer_close(penstock_writer* writer) {
  delete writer;
}
