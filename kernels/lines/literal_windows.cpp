// SPDX-License-Identifier: Apache-2.0
#include "kernels/lines/literal_windows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace penstock {
namespace {

/// Rates of windows count in this many bytes of text.
constexpr std::uint64_t text_bytes = 1U << 20U;
/// Rate of a window that the sample does not have.
constexpr std::uint64_t unseen_rate = 8;
/// Work of a candidate, and of each literal that is compared there, in look-ups of the filter.
constexpr std::uint64_t candidate_work = 16, comparison_work = 4;

/// What logs are full of. Each line stands for some lines of a text.
constexpr std::string_view phrases = R"log(
192.168.10.100 - - [17/May/2015:10:05:03 +0000] "GET /index.html HTTP/1.1" 200 1234 "-" "Mozilla/5.0 (X11; Linux x86_64)
127.0.0.1 - - "POST /api/v1/ HTTP/1.0" 404 "http://www. "https://www. "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:100.0)
 AppleWebKit/537.36 (KHTML, like Gecko) Chrome/100.0.0.0 Safari/537.36" Gecko/20100101 Firefox/100.0" HTTP/2.0" 304 0 "-"
 "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.0 Safari/605.1.15"
 "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)" "Mozilla/5.0 (iPhone; CPU iPhone OS 15_0 like
2024-05-17T10:05:03.123Z INFO  WARN  ERROR  DEBUG May 17 10:05:03 localhost kernel: systemd[1]: sshd[1234]: message
{"timestamp":"2024-05-17T10:05:03.123Z","level":"info","message":"request","status":200,"method":"GET","path":"/",
"user_id":1234,"duration":0.123,"bytes":1234,"host":"localhost","id":"00000000-0000-0000-0000-000000000000"}
                                ,,,,,,,,,,,,,,,,0000000000000000----------------================)log";

/// Work of the candidates of one window.
std::uint64_t work_of(std::uint64_t rate, std::uint64_t literals) {
  return rate * (candidate_work + comparison_work * (literals - 1));
}

std::uint64_t key_of(LiteralWindow window, char const* at) {
  std::uint64_t key = 0;
  std::memcpy(&key, at, bytes_of(window));
  return window == LiteralWindow::eight ? key : key | static_cast<std::uint64_t>(window) << 56U;
}

}  // namespace

LiteralWindow window_of(std::string_view literal) {
  if (literal.size() >= 8) return LiteralWindow::eight;
  if (literal.size() >= 4) return LiteralWindow::four;
  return literal.size() == 3 ? LiteralWindow::three : literal.size() == 2 ? LiteralWindow::two : LiteralWindow::one;
}

std::size_t bytes_of(LiteralWindow window) {
  return window == LiteralWindow::eight ? 8 : 5 - static_cast<std::size_t>(window);
}

std::uint32_t hash_of(LiteralWindow window, std::string_view text) {
  std::uint32_t bytes[2] = {};
  std::memcpy(bytes, text.data(), bytes_of(window));
  return hash_of(window, bytes[0], bytes[1]);
}

LiteralWindows::LiteralWindows(std::span<std::string_view const> literals, std::string_view sample)
    : literals_(literals), begins_(literals.size()) {
  if (sample.empty()) sample = phrases;
  std::size_t windows = 0;
  std::uint32_t kinds = 0;
  for (std::string_view const literal : literals) {
    windows += literal.size() + 1 - bytes_of(window_of(literal));
    kinds |= as_bit(window_of(literal));
  }
  seen_.resize(std::bit_ceil(2 * windows));
  for (std::string_view const literal : literals) {
    LiteralWindow const window = window_of(literal);
    for (std::size_t k = 0; k + bytes_of(window) <= literal.size(); ++k) {
      Seen& each = seen(window, literal.data() + k);
      each.window = key_of(window, literal.data() + k);
      ++each.shared;
    }
  }
  for (std::uint32_t kind = 0; kind < literal_windows; ++kind) {
    auto const window = static_cast<LiteralWindow>(kind);
    if ((kinds & as_bit(window)) == 0) continue;
    for (std::size_t k = 0; k + bytes_of(window) <= sample.size(); ++k) {
      if (Seen& each = seen(window, sample.data() + k); each.shared != 0) ++each.rate;
    }
  }
  for (Seen& each : seen_) {
    each.rate = static_cast<std::uint32_t>(each.rate * text_bytes / sample.size() + unseen_rate);
  }
}

LiteralWindows::Seen& LiteralWindows::seen(LiteralWindow window, char const* at) {
  std::uint64_t const key = key_of(window, at);
  std::size_t k = (key * 0x9E3779B97F4A7C15U >> 32U) & (seen_.size() - 1);
  while (seen_[k].shared != 0 && seen_[k].window != key) k = (k + 1) & (seen_.size() - 1);
  return seen_[k];
}

/// A larger stride means less work; but the shortest literal must have as many windows, and all of them must leave most
/// of the filter free.
std::uint32_t LiteralWindows::most_stride() const {
  std::size_t shortest = std::numeric_limits<std::size_t>::max(), count = 0;
  for (std::string_view const literal : literals_) {
    if (window_of(literal) != LiteralWindow::eight) continue;
    shortest = std::min(shortest, literal.size());
    ++count;
  }
  std::uint32_t stride = 1;
  while (count != 0 && stride < 8 && shortest >= 7 + 2 * stride && stride * count <= literal_filter_words) stride *= 2;
  return stride;
}

void LiteralWindows::choose(std::uint32_t most) {
  std::uint32_t best = 1;
  auto least = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t stride = std::min(most, most_stride()); stride != 0; stride /= 2) {
    std::uint64_t const work = choose_by(stride);
    if (work >= least) continue;
    least = work;
    best = stride;
  }
  choose_by(best);
}

std::uint64_t LiteralWindows::choose_by(std::uint32_t stride) {
  stride_ = stride;
  for (Seen& each : seen_) each.chosen = 0;
  for (std::size_t k = 0; k < literals_.size(); ++k) {
    begins_[k] = best_begin(literals_[k], count(k));
    for (std::uint32_t each = 0; each < count(k); ++each) {
      ++seen(window_of(literals_[k]), literals_[k].data() + begins_[k] + each).chosen;
    }
  }
  std::uint64_t work = text_bytes / stride;
  for (Seen const& each : seen_) {
    // Windows of eight bytes are found at one of `stride` bytes.
    if (each.chosen != 0) work += work_of(each.rate, each.chosen) / stride;
  }
  return work;
}

std::uint32_t LiteralWindows::count(std::size_t literal) const {
  return window_of(literals_[literal]) == LiteralWindow::eight ? stride_ : 1;
}

std::uint32_t LiteralWindows::best_begin(std::string_view literal, std::uint32_t side_by_side) {
  LiteralWindow const window = window_of(literal);
  work_.assign(1, 0);
  for (std::size_t k = 0; k + bytes_of(window) <= literal.size(); ++k) {
    Seen const& each = seen(window, literal.data() + k);
    work_.push_back(work_.back() + work_of(each.rate, each.shared));
  }
  std::uint32_t best = 0;
  for (std::uint32_t k = 0; k + side_by_side < work_.size(); ++k) {
    if (work_[k + side_by_side] - work_[k] < work_[best + side_by_side] - work_[best]) best = k;
  }
  return best;
}

}  // namespace penstock
