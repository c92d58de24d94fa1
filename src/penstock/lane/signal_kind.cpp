// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/signal_kind.hpp"

#include "penstock/core/words.hpp"

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
  return words_for(all_signal_kinds);
}

SignalKind parse_signal_kind(std::string_view name) {
  return parse_word(all_signal_kinds, name, "signal");
}

}  // namespace penstock
