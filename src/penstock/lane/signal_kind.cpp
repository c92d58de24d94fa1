// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/signal_kind.hpp"

#include "penstock/core/error.hpp"

namespace penstock {

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
  std::string names;
  for (SignalKind const kind : all_signal_kinds) {
    if (!names.empty()) names += ", ";
    names += to_string(kind);
  }
  return names;
}

SignalKind parse_signal_kind(std::string_view name) {
  for (SignalKind const kind : all_signal_kinds) {
    if (to_string(kind) == name) return kind;
  }
  throw Error(ErrorKind::bad_argument,
              "There is no signal '" + std::string(name) + "': choose from " + signal_names() + ".");
}

}  // namespace penstock
