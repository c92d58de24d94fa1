// SPDX-License-Identifier: Apache-2.0
#include "penstock/options.hpp"

#include "penstock/core/words.hpp"

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

std::string lane_shape_names() {
  return words_for(all_lane_shapes);
}

LaneShape parse_lane_shape(std::string_view name) {
  return parse_word(all_lane_shapes, name, "shape");
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

std::string signal_names() {
  return words_for(all_signal_kinds);
}

SignalKind parse_signal_kind(std::string_view name) {
  return parse_word(all_signal_kinds, name, "signal");
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

std::string transport_names() {
  return words_for(all_transports);
}

Transport parse_transport(std::string_view name) {
  return parse_word(all_transports, name, "transport");
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

std::string graphs_names() {
  return words_for(all_graphs);
}

Graphs parse_graphs(std::string_view name) {
  return parse_word(all_graphs, name, "choice of graphs");
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

Aim parse_aim(std::string_view name) {
  return parse_word(all_aims, name, "aim");
}

}  // namespace penstock
