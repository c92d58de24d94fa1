// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "observe/verdict/overlap.hpp"
#include "observe/verdict/trace_text.hpp"
#include "penstock/observe/recording.hpp"

namespace penstock {
namespace {

using std::chrono::nanoseconds;

/// Adds calls, self and total of each name. A thread's spans nest, so one pass over them with those that are open does.
class Sums {
 public:
  explicit Sums(Recording const& recording) : spans_(recording.spans), open_of_(recording.span_names.size()) {
    for (std::string const& name : recording.span_names) all_.push_back({.name = name});
  }

  std::vector<SpanTimes> add_up() {
    std::vector<std::size_t> order(spans_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // An outer span is noted after those within it, which counts where the clock shows no difference.
    auto const key = [&](std::size_t number) {
      RecordedSpan const& span = spans_[number];
      return std::tuple(span.row, span.begin, -span.end, spans_.size() - number);
    };
    std::ranges::sort(order, std::less<>(), key);
    for (std::size_t const number : order) add(spans_[number]);
    close_until([](RecordedSpan const&) { return false; });
    return std::move(all_);
  }

 private:
  void add(RecordedSpan const& span) {
    close_until([&](RecordedSpan const& outer) { return outer.row == span.row && outer.end > span.begin; });
    nanoseconds const length(span.end - span.begin);
    SpanTimes& times = all_.at(span.name);
    ++times.calls;
    times.self += length;
    if (open_of_[span.name]++ == 0) times.total += length;
    // Where a recording was cut the outer one may be the shorter.
    if (!open_.empty())
      all_[open_.back()->name].self -= nanoseconds(std::min(span.end, open_.back()->end) - span.begin);
    open_.push_back(&span);
  }
  template <class Holds>
  void close_until(Holds holds) {
    for (; !open_.empty() && !holds(*open_.back()); open_.pop_back()) --open_of_[open_.back()->name];
  }

  std::vector<RecordedSpan> const& spans_;
  std::vector<SpanTimes> all_;
  std::vector<std::size_t> open_of_;  ///< By name: open spans of it.
  std::vector<RecordedSpan const*> open_;
};

/// What was enqueued on a thread: which tiles when, and when it was at it at all.
struct EnqueuedHere {
  std::vector<Passage const*> passages;  ///< By their beginnings; none overlap.
  Intervals all;

  bool within(RecordedSpan const& span) const {
    auto const& parts = all.all();
    auto const after = std::ranges::upper_bound(parts, span.begin, std::less<>(), &Interval::begin);
    return after != parts.begin() && span.end <= std::prev(after)->end;
  }
  /// The passages that are at work in it.
  std::span<Passage const* const> during(RecordedSpan const& span) const {
    auto const first = std::ranges::upper_bound(passages, span.begin, std::less<>(), &Passage::end);
    auto const last = std::ranges::lower_bound(first, passages.end(), std::max(span.end, span.begin + 1), std::less<>(),
                                               &Passage::begin);
    return {first, last};
  }
};

std::vector<EnqueuedHere> enqueued(Recording const& recording) {
  std::vector<EnqueuedHere> rows(recording.rows.size());
  for (Passage const& passage : recording.passages) {
    if (passage.step == Step::enqueue) rows.at(passage.row).passages.push_back(&passage);
  }
  for (EnqueuedHere& row : rows) {
    std::ranges::sort(row.passages, std::less<>(), [](Passage const* one) { return std::pair(one->begin, one->end); });
    std::vector<Interval> parts;
    for (Passage const* const one : row.passages) parts.push_back({one->begin, one->end});
    row.all = Intervals(std::move(parts));
  }
  return rows;
}

/// How long the device computed for each tile; what is logged twice counts once.
std::unordered_map<std::uint64_t, nanoseconds> computed(Recording const& recording) {
  std::unordered_map<std::uint64_t, std::vector<Interval>> when;
  for (Passage const& passage : recording.passages) {
    if (passage.step == Step::stage) when[passage.tile].push_back({passage.begin, passage.end});
  }
  std::unordered_map<std::uint64_t, nanoseconds> lengths;
  for (auto& [tile, parts] : when) lengths[tile] = nanoseconds(Intervals(std::move(parts)).length());
  return lengths;
}

void add_kernels(std::vector<SpanTimes>& all, Recording const& recording) {
  auto const rows = enqueued(recording);
  auto const lengths = computed(recording);
  std::set<std::pair<std::uint32_t, std::uint64_t>> counted;
  auto const count = [&](std::uint32_t name, std::uint64_t tile) {
    auto const length = lengths.find(tile);
    if (length == lengths.end() || !counted.emplace(name, tile).second) return;
    all[name].kernel = all[name].kernel.value_or(nanoseconds(0)) + length->second;
  };
  for (RecordedSpan const& span : recording.spans) {
    EnqueuedHere const& here = rows.at(span.row);
    if (!here.within(span)) continue;
    if (span.tile) {
      count(span.name, *span.tile);
    } else {
      for (Passage const* const passage : here.during(span)) count(span.name, passage->tile);
    }
  }
}

bool begins_a_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
}

std::size_t characters_in(std::string const& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_a_character));
}

/// The name in a line of a table: as in JSON, without the quotes, and cut if it is long.
std::string shown(std::string const& name) {
  constexpr std::size_t most = 48;
  std::string text = quoted(name);
  if (!name.empty()) text = text.substr(1, text.size() - 2);
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_a_character(text[i]) && ++characters > most) return text.substr(0, i) + "...";
  }
  return text;
}

/// To a thousandth of a millisecond, or of a microsecond.
template <class Unit>
std::string time_in(std::chrono::duration<double, Unit> time) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.3f", time.count());
  return text.data();
}

/// The cells below each other: the first to the left, the others to the right.
std::string aligned(std::vector<std::array<std::string, 6>> const& lines) {
  std::array<std::size_t, 6> widths{};
  for (auto const& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], characters_in(cells[i]));
  }
  std::string text;
  for (auto const& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::string const gap(widths[i] - characters_in(cells[i]), ' ');
      i == 0 ? text.append(cells[i]).append(gap) : text.append("  ").append(gap).append(cells[i]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::vector<SpanTimes> span_times(Recording const& recording, SpanOrder order) {
  std::vector<SpanTimes> all = Sums(recording).add_up();
  if (!recording.spans.empty()) add_kernels(all, recording);
  std::erase_if(all, [](SpanTimes const& one) { return one.calls == 0; });
  auto const key = [order](SpanTimes const& one) {
    if (order == SpanOrder::calls) return static_cast<std::int64_t>(one.calls);
    if (order == SpanOrder::kernel) return one.kernel.value_or(nanoseconds(-1)).count();
    return (order == SpanOrder::self ? one.self : one.total).count();
  };
  std::ranges::sort(all, [&](SpanTimes const& one, SpanTimes const& other) {
    return key(one) != key(other) ? key(one) > key(other) : one.name < other.name;
  });
  return all;
}

std::string span_table(Recording const& recording, SpanOrder order) {
  auto const all = span_times(recording, order);
  if (all.empty() && recording.spans_missed == 0) return "";
  std::vector<std::array<std::string, 6>> lines{{"span", "calls", "self ms", "total ms", "mean us", "kernel ms"}};
  for (SpanTimes const& one : all) {
    auto const mean = std::chrono::duration<double, std::micro>(one.total) / static_cast<double>(one.calls);
    lines.push_back({shown(one.name), std::to_string(one.calls), time_in<std::milli>(one.self),
                     time_in<std::milli>(one.total), time_in<std::micro>(mean),
                     one.kernel ? time_in<std::milli>(*one.kernel) : "-"});
  }
  std::string text = aligned(lines);
  if (recording.every > 1) text += "Of tiles one in " + std::to_string(recording.every) + " was recorded.\n";
  if (recording.spans_missed > 0)
    text += "The recorder was full: " + std::to_string(recording.spans_missed) + " spans are missing.\n";
  return text;
}

}  // namespace penstock
