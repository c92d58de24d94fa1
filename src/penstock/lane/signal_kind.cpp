// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/signal_kind.hpp"

#include <string>

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

SignalKind parse_signal_kind(std::string_view name) {
  std::string names;
  for (SignalKind const kind : all_signal_kinds) {
    if (to_string(kind) == name) return kind;
    names += std::string(names.empty() ? "" : ", ") + std::string(to_string(kind));
  }
  throw Error(ErrorKind::bad_argument, "There is no signal '" + std::string(name) + "': choose from " + names + ".");
}

}  // namespace penstock
