// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/transport.hpp"

#include "penstock/core/error.hpp"

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
  std::string names;
  for (Transport const transport : all_transports) {
    if (!names.empty()) names += ", ";
    names += to_string(transport);
  }
  return names;
}

Transport parse_transport(std::string_view name) {
  for (Transport const transport : all_transports) {
    if (to_string(transport) == name) return transport;
  }
  throw Error(ErrorKind::bad_argument,
              "There is no transport '" + std::string(name) + "': choose from " + transport_names() + ".");
}

}  // namespace penstock
