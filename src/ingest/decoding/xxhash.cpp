// SPDX-License-Identifier: Apache-2.0
#include "ingest/decoding/xxhash.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace penstock {
namespace {

std::uint32_t word_at(std::byte const* at) noexcept {
  static_assert(std::endian::native == std::endian::little);
  std::uint32_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

}  // namespace

void Xxhash32::add_stripes(std::span<std::byte const> bytes) noexcept {
  auto lanes = lanes_;
  for (std::size_t at = 0; at < bytes.size(); at += stripe_bytes) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      lanes[lane] = std::rotl(lanes[lane] + word_at(bytes.data() + at + 4 * lane) * prime_2, 13) * prime_1;
    }
  }
  lanes_ = lanes;
}

void Xxhash32::add(std::span<std::byte const> bytes) noexcept {
  std::size_t const held = bytes_ % stripe_bytes;
  bytes_ += bytes.size();
  if (held > 0) {
    std::size_t const more = std::min(bytes.size(), stripe_bytes - held);
    std::copy_n(bytes.begin(), more, rest_.begin() + static_cast<std::ptrdiff_t>(held));
    bytes = bytes.subspan(more);
    if (held + more < stripe_bytes) return;
    add_stripes(rest_);
  }
  std::size_t const rest = bytes.size() % stripe_bytes;
  add_stripes(bytes.first(bytes.size() - rest));
  std::ranges::copy(bytes.last(rest), rest_.begin());
}

std::uint32_t Xxhash32::value() const noexcept {
  std::uint32_t hash = prime_5;
  if (bytes_ >= stripe_bytes) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
  }
  hash += static_cast<std::uint32_t>(bytes_);
  std::size_t const held = bytes_ % stripe_bytes;
  std::size_t at = 0;
  for (; at + 4 <= held; at += 4) hash = std::rotl(hash + word_at(rest_.data() + at) * prime_3, 17) * prime_4;
  for (; at < held; ++at) hash = std::rotl(hash + std::to_integer<std::uint32_t>(rest_.at(at)) * prime_5, 11) * prime_1;
  hash = (hash ^ hash >> 15U) * prime_2;
  hash = (hash ^ hash >> 13U) * prime_3;
  return hash ^ hash >> 16U;
}

}  // namespace penstock
