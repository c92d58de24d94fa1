// SPDX-License-Identifier: Apache-2.0
#include "penstock/records/records.hpp"

#include <cstdio>
#include <exception>
#include <utility>

#include "penstock/records/record_parts.hpp"

namespace penstock {

Records::Records(Pipeline& pipeline, RecordOptions options) : parts_(std::make_unique<Parts>(pipeline, options)) {}

Records::~Records() {
  if (!parts_->clock.joinable()) return;
  stop();
  try {
    drain();
  } catch (std::exception const& exception) {
    std::fprintf(stderr, "penstock: the records could not report on their last run: %s\n", exception.what());
  }
}

void Records::start(RecordStages stages, RecordSink sink) {
  parts_->start(std::move(stages), std::move(sink));
}

RecordWriter Records::writer() {
  return {*this, parts_->departures.take_desk()};
}

RecordReport Records::drain() {
  return parts_->drain();
}

void Records::stop() noexcept {
  parts_->pipeline.stop();
}

std::size_t Records::most_bytes() const noexcept {
  return parts_->packing.most_bytes();
}

}  // namespace penstock
