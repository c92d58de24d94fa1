// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "penstock/ingest/framing.hpp"

namespace penstock::support {

inline std::span<std::byte const> bytes_of(std::string const& text) {
  return std::as_bytes(std::span(text));
}
inline std::string text_of(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}
/// The records that `each_record` finds.
inline std::vector<std::string> records_of(Framing const& framing, std::span<std::byte const> bytes) {
  std::vector<std::string> all;
  each_record(framing, bytes, [&](std::span<std::byte const> record) { all.push_back(text_of(record)); });
  return all;
}
inline std::string joined(std::vector<std::string> const& records) {
  std::string all;
  for (std::string const& record : records) all += record;
  return all;
}

/// Records of up to `longest` bytes, their delimiter included, most of them short, of letters that also occur in the
/// delimiter.
inline std::vector<std::string> delimited_records(std::size_t count, std::string const& delimiter, std::size_t longest,
                                                  std::mt19937& random) {
  std::vector<std::string> all;
  while (all.size() < count) {
    std::size_t const most =
        random() % 8 == 0 ? longest - delimiter.size() : std::min<std::size_t>(12, longest - delimiter.size());
    std::string record;
    for (std::size_t k = random() % (most + 1); k > 0; --k) {
      record += random() % 3 == 0 ? delimiter.front() : static_cast<char>('a' + random() % 4);
    }
    // Its only delimiter is at its end.
    if ((record + delimiter).find(delimiter) == record.size()) all.push_back(record + delimiter);
  }
  return all;
}

}  // namespace penstock::support
