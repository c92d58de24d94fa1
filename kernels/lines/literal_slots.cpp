// SPDX-License-Identifier: Apache-2.0
#include "kernels/lines/literal_slots.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

namespace penstock {
namespace {

/// Maximum number of literals that are compared without a probe.
constexpr std::size_t few = 2;

/// The largest number of equal elements.
std::size_t most_alike(std::span<std::uint32_t> words) {
  std::ranges::sort(words);
  std::size_t most = 0, first = 0;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k] != words[first]) first = k;
    most = std::max(most, k + 1 - first);
  }
  return most;
}

}  // namespace

LiteralSlots::LiteralSlots(std::span<std::string_view const> literals, std::span<std::uint32_t const> texts,
                           LiteralWindows const& chosen)
    : literals_(literals), texts_(texts) {
  std::vector<Window> all;
  for (std::uint32_t literal = 0; literal < literals.size(); ++literal) {
    LiteralWindow const window = window_of(literals[literal]);
    windows |= as_bit(window);
    for (std::uint32_t k = 0; k < chosen.count(literal); ++k) {
      std::uint32_t const before = chosen.begins()[literal] + k;
      all.push_back({hash_of(window, literals[literal].substr(before)), literal, before});
    }
  }
  std::ranges::sort(all, {}, [](Window const& each) { return std::tuple(each.hash, each.literal, each.before); });
  slots.resize(std::bit_ceil(2 * all.size()));
  for (auto first = all.begin(); first != all.end();) {
    auto const behind = std::find_if(first, all.end(), [=](Window const& each) { return each.hash != first->hash; });
    add({first, behind});
    first = behind;
  }
}

std::uint32_t LiteralSlots::probed(Window const& each, std::int32_t probe) const {
  return four_bytes(literals_[each.literal].data() + each.before + probe);
}

std::int32_t LiteralSlots::find_probe(std::span<Window const> same) const {
  if (same.size() <= few) return 0;
  auto first = std::numeric_limits<std::int32_t>::min(), last = std::numeric_limits<std::int32_t>::max();
  for (Window const& each : same) {
    auto const before = static_cast<std::int32_t>(each.before);
    first = std::max(first, -before);
    last = std::min(last, static_cast<std::int32_t>(literals_[each.literal].size()) - before - 4);
  }
  std::int32_t best = 0;
  std::size_t fewest = same.size();
  std::vector<std::uint32_t> words(same.size());
  for (std::int32_t probe = first; probe <= last; ++probe) {
    std::ranges::transform(same, words.begin(), [&](Window const& each) { return probed(each, probe); });
    if (std::size_t const most = most_alike(words); most < fewest && probe != 0) {
      fewest = most;
      best = probe;
    }
  }
  return best;
}

void LiteralSlots::add(std::span<Window const> same) {
  LiteralSlot slot{.hash = same[0].hash,
                   .first = static_cast<std::uint32_t>(entries.size()),
                   .count = static_cast<std::uint32_t>(same.size()),
                   .probe = find_probe(same)};
  for (Window const& each : same) {
    entries.push_back({.text = texts_[each.literal],
                       .length = static_cast<std::uint32_t>(literals_[each.literal].size()),
                       .before = each.before,
                       .probed = slot.probe == 0 ? 0 : probed(each, slot.probe)});
  }
  std::size_t compared = same.size();
  if (slot.probe != 0) {
    std::span const own = std::span(entries).last(same.size());
    std::uint32_t const first = slot.first;
    slot.first = static_cast<std::uint32_t>(parts.size());
    slot.count = std::bit_ceil(slot.count);
    std::ranges::stable_sort(
        own, {}, [&](LiteralEntry const& each) { return std::pair(part_of(each.probed, slot.count), each.probed); });
    for (std::uint32_t part = 0, behind = 0; part <= slot.count; ++part) {
      while (behind < own.size() && part_of(own[behind].probed, slot.count) < part) ++behind;
      parts.push_back(first + behind);
    }
    std::vector<std::uint32_t> words;
    for (LiteralEntry const& each : own) words.push_back(each.probed);
    compared = most_alike(words);
  }
  most_compared = std::max(most_compared, compared);

  filter[word_of(slot.hash)] |= bits_of(slot.hash);
  auto const count = static_cast<std::uint32_t>(slots.size());
  std::uint32_t k = slot_of(slot.hash, count);
  while (slots[k].count != 0) k = (k + 1) & (count - 1);
  slots[k] = slot;
}

}  // namespace penstock
