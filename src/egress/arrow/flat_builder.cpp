// SPDX-License-Identifier: Apache-2.0
#include "egress/arrow/flat_builder.hpp"

#include <algorithm>

namespace penstock {

void FlatBuilder::align(std::size_t alignment, std::size_t bytes) {
  while ((reversed_.size() + bytes) % alignment != 0) reversed_.push_back({});
}

FlatBuilder::Place FlatBuilder::text(std::string_view text) {
  align(sizeof(std::uint32_t), text.size() + 1);
  reversed_.push_back({});
  auto const bytes = std::as_bytes(std::span(text));
  reversed_.insert(reversed_.end(), bytes.rbegin(), bytes.rend());
  put(static_cast<std::uint32_t>(text.size()));
  return here();
}

FlatBuilder::Place FlatBuilder::list(std::span<Place const> places) {
  align(sizeof(std::uint32_t), 0);
  for (auto place = places.rbegin(); place != places.rend(); ++place) put_pointer(*place);
  put(static_cast<std::uint32_t>(places.size()));
  return here();
}

FlatBuilder::Place FlatBuilder::structs(std::span<std::int64_t const> numbers, std::size_t numbers_each) {
  // The place of an empty vector is aligned in the same way.
  align(sizeof(std::int64_t), 0);
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) put(*number);
  put(static_cast<std::uint32_t>(numbers.size() / numbers_each));
  return here();
}

void FlatBuilder::begin_table() {
  table_ = here();
  slots_.clear();
}

void FlatBuilder::pointer(std::size_t slot, Place place) {
  put_pointer(place);
  mark(slot);
}

void FlatBuilder::put_pointer(Place place) {
  align(sizeof(std::uint32_t), sizeof(std::uint32_t));
  put(static_cast<std::uint32_t>(here() + sizeof(std::uint32_t) - place));
}

void FlatBuilder::mark(std::size_t slot) {
  slots_.resize(std::max(slots_.size(), slot + 1));
  slots_[slot] = here();
}

FlatBuilder::Place FlatBuilder::end_table() {
  put(std::int32_t{0});  // Filled in below with the distance of its vtable in front of it.
  Place const table = here();
  for (auto slot = slots_.rbegin(); slot != slots_.rend(); ++slot) {
    put(static_cast<std::uint16_t>(*slot == 0 ? 0 : table - *slot));
  }
  put(static_cast<std::uint16_t>(table - table_));
  put(static_cast<std::uint16_t>((slots_.size() + 2) * sizeof(std::uint16_t)));
  auto const distance = static_cast<std::int32_t>(here() - table);
  std::byte bytes[sizeof distance];
  std::memcpy(bytes, &distance, sizeof distance);
  std::reverse_copy(std::begin(bytes), std::end(bytes),
                    reversed_.begin() + static_cast<std::ptrdiff_t>(table - sizeof distance));
  return table;
}

std::vector<std::byte> FlatBuilder::finish(Place root) {
  align(sizeof(std::int64_t), sizeof(std::uint32_t));
  put_pointer(root);
  return {reversed_.rbegin(), reversed_.rend()};
}

}  // namespace penstock
