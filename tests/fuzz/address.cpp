// SPDX-License-Identifier: Apache-2.0
// A text is an address of a socket or is refused with a sentence, and the text of an address means the same address.
#include <algorithm>
#include <cctype>
#include <string>

#include "fuzz/harness.hpp"
#include <arpa/inet.h>

#include "engine/machine/net_address.hpp"
#include "penstock/error.hpp"

namespace penstock::fuzz {
namespace {

void try_unix(std::string_view path) {
  NetAddress address;
  try {
    address = unix_address(path);
  } catch (Error const& error) {
    require(error.kind() == ErrorKind::bad_argument, "a refusal is of what was given");
    return;
  }
  require(text_of(address) == path, "the text of an address is the path");
}

/// Names of hosts are not looked up.
bool is_number(std::string_view text) {
  std::string host(text.substr(0, text.rfind(':')));
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  in6_addr room{};
  return host == "*" || inet_pton(AF_INET, host.c_str(), &room) == 1 || inet_pton(AF_INET6, host.c_str(), &room) == 1;
}

void try_internet(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return;
  // An address that is refused before it is looked up may have any host.
  std::size_t const colon = text.rfind(':');
  bool const has_port = colon != std::string_view::npos && colon + 1 < text.size() &&
                        std::ranges::all_of(text.substr(colon + 1), [](unsigned char c) { return std::isdigit(c); });
  if (has_port && !is_number(text)) return;
  try {
    for (NetAddress const& address : resolve(text, SOCK_STREAM)) {
      auto const again = resolve(text_of(address), SOCK_STREAM);
      require(again.size() == 1 && text_of(again.front()) == text_of(address), "the text of an address means the same");
      require(again.front().port() == address.port(), "the text of an address has its port");
    }
  } catch (Error const& error) {
    require(error.kind() == ErrorKind::bad_argument || has_port, "without a port it is no address");
  }
}

}  // namespace

void try_input(std::string_view input) {
  try_unix(input);
  try_internet(input);
}

}  // namespace penstock::fuzz
