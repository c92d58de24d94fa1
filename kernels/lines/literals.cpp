// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/number_text.hpp"
#include "kernels/lines/literal_slots.hpp"
#include "kernels/lines/literal_table.hpp"
#include "kernels/lines/literal_trie.hpp"
#include "kernels/lines/literal_windows.hpp"
#include "penstock/error.hpp"
#include "penstock/lines.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse(std::string const& sentence) {
  throw Error(ErrorKind::bad_argument, sentence);
}

constexpr std::uint32_t most_stride = 8;
/// Maximum number of literals that are compared at one byte of a text, if a smaller stride can help.
constexpr std::size_t most_compared = 16;

/// The serialised parts, each at a multiple of sixteen bytes.
class TableBytes {
 public:
  template <class Elements>
  std::uint32_t put(Elements const& elements) {
    return put(elements.data(), elements.size());
  }
  template <class T>
  std::uint32_t put(T const* from, std::size_t count) {
    std::size_t const at = bytes_.size();
    bytes_.resize(at + (count * sizeof(T) + 15) / 16 * 16);
    if (count != 0) std::memcpy(bytes_.data() + at, from, count * sizeof(T));
    return static_cast<std::uint32_t>(at);
  }
  template <class T>
  void replace(std::uint32_t at, T const& with) {
    std::memcpy(bytes_.data() + at, &with, sizeof with);
  }
  std::vector<std::uint64_t> words() const {
    std::vector<std::uint64_t> words(bytes_.size() / 8);
    std::memcpy(words.data(), bytes_.data(), bytes_.size());
    return words;
  }

 private:
  std::vector<unsigned char> bytes_;
};

/// Literals at multiples of four bytes.
struct LiteralTexts {
  std::string bytes;
  std::vector<std::uint32_t> begins;
};
LiteralTexts texts_of(std::span<std::string_view const> literals) {
  LiteralTexts texts;
  for (std::string_view const literal : literals) {
    texts.begins.push_back(static_cast<std::uint32_t>(texts.bytes.size()));
    texts.bytes += literal;
    texts.bytes.resize((texts.bytes.size() + 3) / 4 * 4);
  }
  return texts;
}

}  // namespace

Literals::Literals(std::span<std::string const> texts, std::string_view sample) {
  if (texts.empty()) refuse("There is no literal to look for: give at least one.");
  std::vector<std::string_view> literals(texts.begin(), texts.end());
  std::size_t bytes = 0;
  for (std::string_view const literal : literals) {
    if (literal.empty()) refuse("An empty literal is in each line: leave it out.");
    if (literal.find('\n') != std::string_view::npos) {
      refuse("A literal with a line break is in no line: leave the break out.");
    }
    bytes += literal.size();
    if (bytes > most_bytes) {
      refuse("Literals of more than " + size_text(most_bytes) + " do not fit into a table: look for fewer at once.");
    }
  }
  std::ranges::sort(literals);
  literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
  size_ = literals.size();

  LiteralTrie trie(literals);
  if (auto const innermost = trie.innermost(); innermost.size() != literals.size()) {
    for (std::size_t k = 0; k < innermost.size(); ++k) literals[k] = literals[innermost[k]];
    literals.resize(innermost.size());
    trie = LiteralTrie(literals);
  }
  LiteralWindows windows(literals, sample);
  windows.choose(most_stride);
  auto const [padded, begins] = texts_of(literals);
  LiteralSlots slots(literals, begins, windows);
  // A smaller stride takes fewer windows of each literal, so that more literals have unshared ones.
  while (windows.stride() > 1 && slots.most_compared > most_compared) {
    windows.choose(windows.stride() / 2);
    slots = LiteralSlots(literals, begins, windows);
  }
  TableBytes table;
  LiteralHeader header{.stride = windows.stride(),
                       .windows = slots.windows,
                       .slot_count = static_cast<std::uint32_t>(slots.slots.size())};
  std::uint32_t const at = table.put(&header, 1);
  header.filter = table.put(slots.filter);
  header.slots = table.put(slots.slots);
  header.parts = table.put(slots.parts);
  header.entries = table.put(slots.entries);
  header.texts = table.put(padded);
  header.children = table.put(trie.children);
  header.failures = table.put(trie.failures);
  header.bytes = table.put(trie.bytes);
  table.replace(at, header);
  table_ = table.words();
}

Literals literals_of_lines(std::string const& text, std::string_view sample) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = std::min(text.find('\n', at), text.size());
    std::size_t const bytes = end - at - (end > at && text[end - 1] == '\r' ? 1 : 0);
    if (bytes == 0) {
      refuse("Line " + std::to_string(lines.size() + 1) +
             " is empty, and an empty literal is in each line: leave it out.");
    }
    lines.push_back(text.substr(at, bytes));
    at = end + 1;
  }
  return Literals(lines, sample);
}

}  // namespace penstock
