// SPDX-License-Identifier: Apache-2.0
#include "tools/command/build_text.hpp"

#include <cstddef>
#include <span>

namespace penstock::cli {

std::string build_text(std::string_view version, Flavour flavour, bool with_cuda) {
  std::string text(version);
  text += flavour == Flavour::legacy ? ", legacy default stream" : ", per-thread default streams";
  if (!with_cuda) text += ", without CUDA";
  return text;
}

std::string command_text(int count, char const* const* arguments) {
  std::string text;
  for (std::string const argument : std::span(arguments, static_cast<std::size_t>(count))) {
    if (!text.empty()) text += ' ';
    bool const plain = !argument.empty() && argument.find_first_not_of(
                                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                "0123456789_-./,:=+@%") == std::string::npos;
    if (plain) {
      text += argument;
      continue;
    }
    text += '\'';
    for (char const letter : argument) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    text += '\'';
  }
  return text;
}

}  // namespace penstock::cli
