// SPDX-License-Identifier: Apache-2.0
// The table of a set of literals, and the search in it, the same on CPU and GPU.
#pragma once

#include <cstdint>
#include <cstring>

// These functions are only for the GPU in a CUDA source.
#ifdef __CUDACC__
#define PENSTOCK_LOOKS_THERE __device__
#else
#define PENSTOCK_LOOKS_THERE
#endif

namespace penstock {

/// Size of a table's filter in words. A block of GPU threads keeps the filter beside its text. More literals set more
/// bits; look-ups stay exact.
inline constexpr std::uint32_t literal_filter_words = 4096;

/// Part of a literal by which it is searched for: eight bytes if it has as many, or else four, or else all of it.
/// Windows of eight bytes are searched for only at each `LiteralHeader::stride`-th byte, and a literal has as many
/// consecutive ones.
enum class LiteralWindow : std::uint32_t { eight, four, three, two, one };
inline constexpr std::uint32_t literal_windows = 5;

/// The literals that have one window. Slots are a hash table with open addressing, at most half full.
struct alignas(8) LiteralSlot {
  std::uint32_t hash = 0;   ///< Hash of the window.
  std::uint32_t first = 0;  ///< Number of the first entry; with a probe, of the first of its parts.
  std::uint32_t count = 0;  ///< Number of entries; with a probe, of parts, a power of two. 0: the slot is empty.
  std::int32_t probe = 0;   ///< Distance from the window's first byte to four bytes that tell the literals apart, and
                            ///< that all of them have. 0: there is none.
};

/// One window of a literal.
struct alignas(8) LiteralEntry {
  std::uint32_t text = 0;    ///< Offset of the literal in the table's texts, a multiple of four.
  std::uint32_t length = 0;  ///< Length in bytes.
  std::uint32_t before = 0;  ///< Number of its bytes before its window.
  std::uint32_t probed = 0;  ///< The four bytes at its slot's probe.
};

/// Head of a table. Offsets count from its beginning, in bytes.
struct LiteralHeader {
  std::uint32_t stride = 1;      ///< A power of two.
  std::uint32_t windows = 0;     ///< A bit for each kind of window that a literal has.
  std::uint32_t slot_count = 0;  ///< A power of two.
  std::uint32_t filter = 0;      ///< Offset of the words in which each window has two bits.
  std::uint32_t slots = 0;
  std::uint32_t parts = 0;  ///< Offset of the number of the first entry of each part, and one more for each slot.
  std::uint32_t entries = 0;
  std::uint32_t texts = 0;
  std::uint32_t children = 0;  ///< Offset of the array that LiteralTrie has; the same holds for the next two.
  std::uint32_t failures = 0;
  std::uint32_t bytes = 0;
};

/// Hash of a window that begins with these bytes. Its highest bits depend on all bytes of the window.
PENSTOCK_LOOKS_THERE constexpr std::uint32_t hash_of(LiteralWindow window, std::uint32_t low, std::uint32_t high) {
  auto const kind = static_cast<std::uint32_t>(window);
  if (window != LiteralWindow::eight) {
    low &= ~std::uint32_t{0} >> 8U * (kind - 1U);
    high = kind;
  }
  std::uint32_t const mixed = low * 0x9E3779B1U + high * 0x85EBCA77U;
  return mixed ^ mixed >> 15U;
}
PENSTOCK_LOOKS_THERE constexpr std::uint32_t word_of(std::uint32_t hash) {
  return (hash >> 10U) & (literal_filter_words - 1U);
}
/// The bits of a window in its word.
PENSTOCK_LOOKS_THERE constexpr std::uint32_t bits_of(std::uint32_t hash) {
  return std::uint32_t{1} << (hash & 31U) | std::uint32_t{1} << (hash >> 5U & 31U);
}
/// Where the search for a slot begins.
PENSTOCK_LOOKS_THERE constexpr std::uint32_t slot_of(std::uint32_t hash, std::uint32_t slots) {
  return (hash * 0x2C1B3C6DU >> 8U) & (slots - 1U);
}
/// The part of a slot that has the literals with these bytes.
PENSTOCK_LOOKS_THERE constexpr std::uint32_t part_of(std::uint32_t probed, std::uint32_t parts) {
  return (probed * 0x9E3779B1U >> 12U) & (parts - 1U);
}

/// Four bytes, wherever they begin.
PENSTOCK_LOOKS_THERE inline std::uint32_t four_bytes(void const* from) {
#ifdef __CUDA_ARCH__
  // Words that have one of the bytes can be read, others may not exist.
  auto const begin = reinterpret_cast<std::uintptr_t>(from), last = begin + 3;
  return __funnelshift_r(*reinterpret_cast<std::uint32_t const*>(begin - begin % 4),
                         *reinterpret_cast<std::uint32_t const*>(last - last % 4),
                         static_cast<std::uint32_t>(begin % 4 * 8));
#else
  std::uint32_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
#endif
}
/// The number of first bytes in which two texts are the same, or up to three fewer; `length` only if all are.
PENSTOCK_LOOKS_THERE inline std::uint32_t same_bytes(char const* text, unsigned char const* other,
                                                     std::uint32_t length) {
  std::uint32_t same = 0;
  for (; length - same >= 4; same += 4) {
    if (four_bytes(text + same) != four_bytes(other + same)) return same;
  }
  while (same < length && static_cast<unsigned char>(text[same]) == other[same]) ++same;
  return same;
}

/// The child of a node for this byte; 0 if there is none. `children` and `bytes` are those of LiteralTrie.
PENSTOCK_LOOKS_THERE constexpr std::uint32_t child_of(std::uint32_t const* children, unsigned char const* bytes,
                                                      std::uint32_t node, unsigned char byte) {
  std::uint32_t first = children[node], last = children[node + 1];
  std::uint32_t const behind = last;
  while (first < last) {
    std::uint32_t const middle = first + (last - first) / 2;
    if (bytes[middle] < byte) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first < behind && bytes[first] == byte ? first : 0;
}

/// Work that may still be done before the automaton is used. The automaton takes a text byte by byte, in a time that
/// does not depend on the literals; otherwise many literals may be compared at each byte of a text that is much like
/// them.
struct LiteralSteps {
  std::int32_t left = 0;  ///< Bytes of literals; negative: there were too few, and a find may be wrong.
};

/// A table in memory that a kernel can read.
struct LiteralTable {
  unsigned char const* bytes = nullptr;

  PENSTOCK_LOOKS_THERE LiteralHeader const& header() const { return *reinterpret_cast<LiteralHeader const*>(bytes); }
  PENSTOCK_LOOKS_THERE std::uint32_t const* filter() const { return words(header().filter); }
  /// True if text[0..end) contains a literal whose window begins at `at` and has this hash, or if the steps did not
  /// suffice to tell.
  PENSTOCK_LOOKS_THERE bool finds(char const* text, std::uint64_t end, std::uint64_t at, std::uint32_t hash,
                                  LiteralSteps& steps) const {
    if (steps.left < 0) return true;
    LiteralHeader const& all = header();
    auto const* const slots = reinterpret_cast<LiteralSlot const*>(begin_at(all.slots));
    std::uint32_t k = slot_of(hash, all.slot_count);
    while (slots[k].count != 0 && slots[k].hash != hash) k = (k + 1) & (all.slot_count - 1);
    LiteralSlot const slot = slots[k];
    if (slot.count == 0) return false;
    std::uint32_t entry = slot.first, behind = slot.first + slot.count, probed = 0;
    if (slot.probe != 0) {
      std::int64_t const place = static_cast<std::int64_t>(at) + slot.probe;
      if (place < 0 || place + 4 > static_cast<std::int64_t>(end)) return false;
      probed = four_bytes(text + place);
      std::uint32_t const* const part = words(all.parts) + slot.first + part_of(probed, slot.count);
      entry = part[0];
      behind = part[1];
    }
    for (; entry < behind; ++entry) {
      if (is_at(entry, slot.probe != 0, probed, text, end, at, steps) || steps.left < 0) return true;
    }
    return false;
  }
  /// Follows this byte from a node of the automaton.
  PENSTOCK_LOOKS_THERE std::uint32_t next_node(std::uint32_t node, unsigned char byte) const {
    LiteralHeader const& all = header();
    for (;;) {
      std::uint32_t const child = child_of(words(all.children), begin_at(all.bytes), node, byte);
      if (child != 0 || node == 0) return child;
      node = words(all.failures)[node];
    }
  }
  /// True if a literal ends at this node, since none contains another one.
  PENSTOCK_LOOKS_THERE bool is_literal(std::uint32_t node) const {
    std::uint32_t const* const children = words(header().children) + node;
    return children[0] == children[1];
  }

 private:
  PENSTOCK_LOOKS_THERE unsigned char const* begin_at(std::uint32_t place) const { return bytes + place; }
  PENSTOCK_LOOKS_THERE std::uint32_t const* words(std::uint32_t place) const {
    return reinterpret_cast<std::uint32_t const*>(bytes + place);
  }
  /// True if the text has the literal of this entry, whose window is at `at`.
  PENSTOCK_LOOKS_THERE bool is_at(std::uint32_t number, bool probes, std::uint32_t probed, char const* text,
                                  std::uint64_t end, std::uint64_t at, LiteralSteps& steps) const {
    LiteralHeader const& all = header();
    LiteralEntry const entry = reinterpret_cast<LiteralEntry const*>(begin_at(all.entries))[number];
    --steps.left;
    if ((probes && entry.probed != probed) || at < entry.before || end - (at - entry.before) < entry.length) {
      return false;
    }
    auto const enough = static_cast<std::uint32_t>(steps.left + 1) + 1;
    std::uint32_t const most = entry.length < enough ? entry.length : enough;
    std::uint32_t const same = same_bytes(text + (at - entry.before), begin_at(all.texts) + entry.text, most);
    if (same == entry.length) return true;
    steps.left -= static_cast<std::int32_t>(same);
    return false;
  }
};

/// The bit of a window in a set of windows.
PENSTOCK_LOOKS_THERE constexpr std::uint32_t as_bit(LiteralWindow window) {
  return std::uint32_t{1} << static_cast<std::uint32_t>(window);
}
/// The members of `windows` that may begin at this byte of a text.
PENSTOCK_LOOKS_THERE constexpr std::uint32_t windows_at(std::uint64_t at, std::uint32_t windows, std::uint32_t stride) {
  return (at & (stride - 1)) == 0 ? windows : windows & ~as_bit(LiteralWindow::eight);
}
/// True if a window of this hash may be in the table. `filter` is the table's, or a copy in faster memory.
PENSTOCK_LOOKS_THERE constexpr bool passes(std::uint32_t const* filter, std::uint32_t hash) {
  std::uint32_t const bits = bits_of(hash);
  return (filter[word_of(hash)] & bits) == bits;
}

/// True if a window of a literal begins at `at`, where these eight bytes are, and the literal is in text[0..end), or if
/// the steps did not suffice to tell. `some` has at least the members of `windows`.
template <std::uint32_t some = (1U << literal_windows) - 1U>
PENSTOCK_LOOKS_THERE inline bool literal_at(LiteralTable const& table, std::uint32_t const* filter,
                                            std::uint32_t windows, std::uint32_t low, std::uint32_t high,
                                            char const* text, std::uint64_t end, std::uint64_t at,
                                            LiteralSteps& steps) {
  for (std::uint32_t kind = 0; kind < literal_windows; ++kind) {
    auto const window = static_cast<LiteralWindow>(kind);
    if ((windows & some & as_bit(window)) == 0) continue;
    std::uint32_t const hash = hash_of(window, low, high);
    if (passes(filter, hash) && table.finds(text, end, at, hash, steps)) return true;
  }
  return false;
}

}  // namespace penstock
