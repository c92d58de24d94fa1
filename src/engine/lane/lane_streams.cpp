// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/lane_streams.hpp"

#include "penstock/error.hpp"

namespace penstock {
namespace {

std::optional<Stream> stream_if(bool wanted, Device& device, int priority) {
  if (!wanted) return std::nullopt;
  return device.make_stream({.priority = priority});
}

std::optional<Event> event_if(bool wanted, Device& device, EventOptions options) {
  if (!wanted) return std::nullopt;
  return device.make_event(options);
}

}  // namespace

FlightEvents::FlightEvents(Device& device, bool split, std::size_t more_inputs, EventOptions options)
    : uploaded(event_if(split, device, options)),
      computed(event_if(split, device, options)),
      landed(device.make_event(options)) {
  for (std::size_t i = 0; split && i < more_inputs; ++i) more_uploaded.push_back(device.make_event(options));
}

LaneStreams::LaneStreams(Device& device, FlightOptions const& options, std::size_t more_inputs)
    : device_(device),
      patience_(options.patience),
      split_(options.shape != LaneShape::single),
      own_compute_(stream_if(options.streams == StreamMode::own, device, options.priority)),
      own_upload_(stream_if(split_, device, options.priority)),
      own_download_(stream_if(split_, device, options.priority)),
      compute_priority_(own_compute_ ? options.priority : 0),
      compute_(own_compute_ ? StreamRef(*own_compute_) : device.thread_default_stream()),
      upload_(own_upload_ ? StreamRef(*own_upload_) : compute_),
      download_(own_download_ ? StreamRef(*own_download_) : compute_),
      idle_mark_(device.make_event()) {
  for (std::size_t i = 0; split_ && i < more_inputs; ++i) {
    own_more_uploads_.push_back(device.make_stream({.priority = options.priority}));
  }
}

void LaneStreams::join_uploads(FlightEvents const& events) const {
  upload_.record(*events.uploaded);
  compute_.wait(*events.uploaded);
  for (std::size_t i = 0; i < own_more_uploads_.size(); ++i) {
    StreamRef(own_more_uploads_[i]).record(events.more_uploaded[i]);
    compute_.wait(events.more_uploaded[i]);
  }
}

void LaneStreams::join_stage(FlightEvents const& events) const {
  compute_.record(*events.computed);
  download_.wait(*events.computed);
}

char const* LaneStreams::step_of(FlightEvents const& events, TransferPath path) const noexcept {
  if (path == TransferPath::mapped) return "stage";  // A mapped tile has no other step.
  // The events between the steps are not recorded where all steps are in one stream.
  if (!split_) return "device";
  try {
    if (!events.uploaded->passed()) return "upload";
    for (Event const& more : events.more_uploaded) {
      if (!more.passed()) return "upload";
    }
    return events.computed->passed() ? "download" : "stage";
  } catch (Error const&) {
    return "device";
  }
}

bool LaneStreams::wait_idle(StreamRef stream) {
  bool marked = true;
  try {
    stream.record(idle_mark_);
  } catch (Error const& error) {
    if (error.sticky()) throw;
    marked = false;
  } catch (std::bad_alloc const&) {
    marked = false;
  }
  return await([&] { return marked ? idle_mark_.passed() : stream.idle(); });
}

bool LaneStreams::wait_idle() {
  for (StreamRef const stream : {upload_, compute_, download_}) {
    if (!wait_idle(stream)) return false;
  }
  for (StreamRef const stream : own_more_uploads_) {
    if (!wait_idle(stream)) return false;
  }
  return true;
}

void LaneStreams::synchronize() const noexcept {
  auto const wait_for = [](StreamRef stream) {
    try {
      stream.synchronize();
    } catch (std::exception const&) {
    }
  };
  for (StreamRef const stream : {upload_, compute_, download_}) wait_for(stream);
  for (StreamRef const stream : own_more_uploads_) wait_for(stream);
}

void LaneStreams::drop_calls() const {
  download_.drop_calls();
  // The calls of mapped tiles are there.
  if (!(compute_ == download_)) compute_.drop_calls();
}

}  // namespace penstock
