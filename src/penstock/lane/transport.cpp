// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/transport.hpp"

#include "penstock/core/words.hpp"

namespace penstock {

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

}  // namespace penstock
