// SPDX-License-Identifier: Apache-2.0
#include "penstock/options.hpp"

namespace penstock {

std::string_view to_string(LaneShape shape) noexcept {
  switch (shape) {
    case LaneShape::split:
      return "split";
    case LaneShape::single:
      return "single";
  }
  return "";
}

std::string_view to_string(StreamMode mode) noexcept {
  return mode == StreamMode::own ? "own" : "default";
}

std::string_view to_string(SignalKind kind) noexcept {
  switch (kind) {
    case SignalKind::callback:
      return "callback";
    case SignalKind::callback_in_stream:
      return "callback_in_stream";
    case SignalKind::host_func:
      return "host_func";
    case SignalKind::event_poll:
      return "event_poll";
    case SignalKind::event_block:
      return "event_block";
    case SignalKind::flag:
      return "flag";
  }
  return "";
}

std::string_view to_string(Transport transport) noexcept {
  switch (transport) {
    case Transport::automatic:
      return "automatic";
    case Transport::copies:
      return "copies";
    case Transport::mapped:
      return "mapped";
  }
  return "";
}

std::string_view to_string(Graphs graphs) noexcept {
  switch (graphs) {
    case Graphs::automatic:
      return "automatic";
    case Graphs::never:
      return "never";
    case Graphs::always:
      return "always";
  }
  return "";
}

std::string_view to_string(Bind bind) noexcept {
  switch (bind) {
    case Bind::none:
      return "none";
    case Bind::node:
      return "node";
    case Bind::cpu:
      return "cpu";
  }
  return "";
}

std::string_view to_string(Aim aim) noexcept {
  switch (aim) {
    case Aim::throughput:
      return "throughput";
    case Aim::latency:
      return "latency";
  }
  return "";
}

}  // namespace penstock
