// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/seen_bytes.hpp"

#include <algorithm>
#include <array>

namespace penstock {

void SeenBytes::add(std::uint64_t offset, std::span<std::byte const> bytes) {
  if (first_.empty()) begin_ = offset;
  auto const more = bytes.first(std::min(bytes.size(), most_bytes - first_.size()));
  first_.insert(first_.end(), more.begin(), more.end());
  end_ = offset + bytes.size();
  auto const last = bytes.last(std::min(bytes.size(), most_bytes));
  std::size_t const kept = std::min(last_.size(), most_bytes - last.size());
  last_.erase(last_.begin(), last_.end() - static_cast<std::ptrdiff_t>(kept));
  last_.insert(last_.end(), last.begin(), last.end());
}

bool SeenBytes::are_there(Read const& read) const {
  std::array<std::byte, most_bytes> room;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  auto const has = [&](std::uint64_t offset, std::vector<std::byte> const& bytes) {
    auto const part = std::span(room).first(bytes.size());
    return read(offset, part) == bytes.size() && std::ranges::equal(part, bytes);
  };
  return has(end_ - last_.size(), last_) && has(begin_, first_);
}

}  // namespace penstock
