// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/option_text.hpp"

#include "penstock/core/usual_sizes.hpp"

namespace penstock {

std::string option_text(char const* name, std::uint64_t value) {
  return std::string(name) + ' ' + std::to_string(value);
}

std::uint64_t tiles_for(RunFigures const& figures, std::uint64_t slots, unsigned batch) {
  return usual_tiles({.lanes = figures.lanes,
                      .slots = slots,
                      .batch = batch,
                      .producers = figures.producers,
                      .consumers = figures.consumers,
                      .tile_bytes = static_cast<std::size_t>(figures.pool_bytes)});
}

std::string slots_text(RunFigures const& figures, std::uint64_t slots, unsigned batch) {
  std::uint64_t const tiles = tiles_for(figures, slots, batch);
  std::string const pool = tiles > figures.pool ? ' ' + option_text("--tiles", tiles) : "";
  return option_text("--slots", slots) + pool;
}

std::string batch_text(RunFigures const& figures, unsigned batch) {
  std::uint64_t const slots = std::uint64_t{batches_in_flight} * batch;
  if (slots > figures.slots) return option_text("--batch", batch) + ' ' + slots_text(figures, slots, batch);
  std::uint64_t const tiles = tiles_for(figures, figures.slots, batch);
  bool const pool_short = figures.pool < std::uint64_t{2} * figures.lanes * batch && tiles > figures.pool;
  return option_text("--batch", batch) + (pool_short ? ' ' + option_text("--tiles", tiles) : "");
}

}  // namespace penstock
