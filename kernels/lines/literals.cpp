// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "engine/core/number_text.hpp"
#include "kernels/lines/literal_table.hpp"
#include "kernels/lines/literal_trie.hpp"
#include "penstock/error.hpp"
#include "penstock/lines.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse(std::string const& sentence) {
  throw Error(ErrorKind::bad_argument, sentence);
}

std::uint32_t four_bytes(char const* from) {
  std::uint32_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

LiteralWindow window_of(std::string_view text) {
  return text.size() >= 8 ? LiteralWindow::eight : text.size() >= 4 ? LiteralWindow::four : LiteralWindow::one;
}

std::size_t bytes_of(LiteralWindow window) {
  return window == LiteralWindow::eight ? 8 : window == LiteralWindow::four ? 4 : 1;
}

std::uint32_t hash_at(LiteralWindow window, char const* at) {
  switch (window) {
    case LiteralWindow::eight:
      return hash_of_eight(four_bytes(at), four_bytes(at + 4));
    case LiteralWindow::four:
      return hash_of_four(four_bytes(at));
    case LiteralWindow::one:
      return hash_of_one(static_cast<unsigned char>(*at));
  }
  return 0;
}

/// Chooses the distance at which windows of eight bytes are searched for. A larger distance means less work; but the
/// shortest literal must have as many windows, and all of them must leave most of the filter free.
std::uint32_t choose_stride(std::vector<std::string_view> const& texts) {
  std::size_t shortest = std::numeric_limits<std::size_t>::max(), count = 0;
  for (std::string_view const text : texts) {
    if (window_of(text) != LiteralWindow::eight) continue;
    shortest = std::min(shortest, text.size());
    ++count;
  }
  std::uint32_t stride = 1;
  while (count != 0 && stride < 8 && shortest >= 7 + 2 * stride && stride * count <= literal_filter_words) {
    stride *= 2;
  }
  return stride;
}

/// The windows of each literal that are searched for, as the position of the first: the windows that the fewest
/// literals share, so that a text that matches the common beginning of all is no candidate for each. A window of one
/// byte is the first.
class ChosenWindows {
 public:
  ChosenWindows(std::vector<std::string_view> const& texts, std::uint32_t stride) : stride_(stride) {
    for (std::string_view const text : texts) {
      for (std::size_t k = 0; k + bytes_of(window_of(text)) <= text.size(); ++k) ++shared_[window(text, k)];
    }
  }
  std::uint32_t of(std::string_view text) const {
    if (window_of(text) == LiteralWindow::one) return 0;
    std::uint32_t const side_by_side = count(text);
    std::uint32_t best = 0, fewest = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t k = 0; k + side_by_side + bytes_of(window_of(text)) <= text.size() + 1; ++k) {
      std::uint32_t most = 0;
      for (std::size_t each = k; each < k + side_by_side; ++each) most = std::max(most, shared_.at(window(text, each)));
      if (most >= fewest) continue;
      fewest = most;
      best = static_cast<std::uint32_t>(k);
    }
    return best;
  }
  /// Number of windows of this literal.
  std::uint32_t count(std::string_view text) const { return window_of(text) == LiteralWindow::eight ? stride_ : 1; }

 private:
  static std::string_view window(std::string_view text, std::size_t at) {
    return text.substr(at, bytes_of(window_of(text)));
  }

  std::uint32_t const stride_;
  std::unordered_map<std::string_view, std::uint32_t> shared_;
};

/// The parts of a table, before they are serialised.
struct TableParts {
  LiteralHeader header;
  std::vector<std::uint32_t> filter = std::vector<std::uint32_t>(literal_filter_words);
  std::vector<std::uint32_t> bucket_begins;
  std::vector<LiteralEntry> entries;
  std::string texts;

  explicit TableParts(std::vector<std::string_view> const& literals) {
    // A smaller stride takes fewer windows of each literal, so that more literals have unshared ones.
    std::uint32_t stride = choose_stride(literals);
    for (choose(literals, stride); stride > 1 && most_alike() > most_compared;) choose(literals, stride /= 2);
    bucket_begins.resize(std::size_t{header.buckets} + 1);
    for (LiteralEntry const& entry : entries) ++bucket_begins[std::size_t{bucket(entry)} + 1];
    for (std::size_t k = 1; k < bucket_begins.size(); ++k) bucket_begins[k] += bucket_begins[k - 1];
    for (std::string_view const literal : literals) texts += literal;
  }

 private:
  /// Maximum number of literals that are compared where a text has the window of all of them.
  static constexpr std::size_t most_compared = 16;

  std::uint32_t bucket(LiteralEntry const& entry) const { return bucket_of(entry.hash, header.buckets); }
  void choose(std::vector<std::string_view> const& literals, std::uint32_t stride) {
    header = {.stride = stride};
    std::ranges::fill(filter, 0);
    entries.clear();
    ChosenWindows const chosen(literals, stride);
    std::uint32_t text = 0;
    for (std::string_view const literal : literals) {
      std::uint32_t const first = chosen.of(literal);
      for (std::uint32_t k = 0; k < chosen.count(literal); ++k) add(literal, text, first + k);
      text += static_cast<std::uint32_t>(literal.size());
    }
    header.buckets = std::bit_ceil(static_cast<std::uint32_t>(2 * entries.size()));
    std::ranges::stable_sort(entries, {},
                             [this](LiteralEntry const& each) { return std::pair(bucket(each), each.hash); });
  }
  /// The largest number of entries with the same hash.
  std::size_t most_alike() const {
    std::size_t most = 0;
    for (auto first = entries.begin(); first != entries.end();) {
      auto const behind =
          std::find_if(first, entries.end(), [=](LiteralEntry const& each) { return each.hash != first->hash; });
      most = std::max(most, static_cast<std::size_t>(behind - first));
      first = behind;
    }
    return most;
  }
  void add(std::string_view literal, std::uint32_t text, std::uint32_t before) {
    LiteralWindow const window = window_of(literal);
    std::uint32_t const hash = hash_at(window, literal.data() + before);
    entries.push_back({.hash = hash,
                       .text = text,
                       .length = static_cast<std::uint32_t>(literal.size()),
                       .before = before,
                       .window = window});
    header.windows |= as_bit(window);
    if (window == LiteralWindow::one) {
      auto const byte = static_cast<unsigned char>(literal.front());
      header.first_bytes[byte / 32] |= std::uint32_t{1} << byte % 32U;
    } else {
      filter[word_of(hash)] |= bits_of(hash);
    }
  }
};

/// The serialised parts, each at a multiple of eight bytes.
class TableBytes {
 public:
  template <class T>
  std::uint32_t put(T const* from, std::size_t count) {
    std::size_t const at = bytes_.size();
    bytes_.resize(at + (count * sizeof(T) + 7) / 8 * 8);
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

}  // namespace

Literals::Literals(std::span<std::string const> texts) {
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
  TableParts parts(literals);
  TableBytes table;
  LiteralHeader& header = parts.header;
  std::uint32_t const at = table.put(&header, 1);
  header.filter = table.put(parts.filter.data(), parts.filter.size());
  header.bucket_begins = table.put(parts.bucket_begins.data(), parts.bucket_begins.size());
  header.entries = table.put(parts.entries.data(), parts.entries.size());
  header.texts = table.put(parts.texts.data(), parts.texts.size());
  header.children = table.put(trie.children.data(), trie.children.size());
  header.failures = table.put(trie.failures.data(), trie.failures.size());
  header.bytes = table.put(trie.bytes.data(), trie.bytes.size());
  table.replace(at, header);
  table_ = table.words();
}

Literals literals_of_lines(std::string const& text) {
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
  return Literals(lines);
}

}  // namespace penstock
