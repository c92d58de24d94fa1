// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/whole_programs/printed_output.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace penstock::cli {
namespace {

/// Pairs of lines that are looked at, at most: some megabytes.
constexpr std::size_t most_pairs = 4'000'000;
constexpr std::size_t none = static_cast<std::size_t>(-1);

std::string_view take_line(std::string_view& text) {
  std::size_t const end = text.find('\n');
  std::string_view const line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// True if the numbers are equal, but for those that do not count.
bool same_numbers(PrintedLine const& mine, PrintedLine const& theirs) {
  return std::ranges::equal(mine.numbers, theirs.numbers, [](auto const& one, auto const& other) {
    return one.measured || one.varies || one.text == other.text;
  });
}
bool same(PrintedLine const& mine, PrintedLine const& theirs) {
  return same_words(mine, theirs) && same_numbers(mine, theirs);
}

void note_numbers(PrintedLine& mine, PrintedLine const& theirs, bool same_program) {
  for (std::size_t i = 0; i < mine.numbers.size(); ++i) {
    if (mine.numbers[i].text == theirs.numbers[i].text) continue;
    mine.numbers[i].varies |= same_program;
    mine.numbers[i].seen_other = true;
  }
}

/// Nothing is known of the text behind what was kept.
bool whole(Heard const& output) {
  return output.bytes() == output.begin().size();
}

std::string difference_between(PrintedLine const* mine, PrintedLine const* theirs) {
  std::size_t const number = mine != nullptr ? mine->number : theirs != nullptr ? theirs->number : 0;
  auto const shown = [](PrintedLine const* line) { return line == nullptr ? "" : shown_line(line->text); };
  return "line " + std::to_string(number) + ": '" + shown(mine) + "' and '" + shown(theirs) + "'";
}

/// For each line of mine the one of theirs that stands for it, or none: as many as can be without a change of order,
/// and with the same numbers where that is possible. Beyond `most_pairs` lines in the middle may only have that at
/// their own place.
std::vector<std::size_t> partners_of(std::span<PrintedLine const> mine, std::span<PrintedLine const> theirs) {
  std::vector<std::size_t> partners(mine.size(), none);
  std::size_t begin = 0, my_end = mine.size(), their_end = theirs.size();
  for (; begin < std::min(my_end, their_end) && same(mine[begin], theirs[begin]); ++begin) partners[begin] = begin;
  for (; std::min(my_end, their_end) > begin && same(mine[my_end - 1], theirs[their_end - 1]); --my_end, --their_end)
    partners[my_end - 1] = their_end - 1;
  std::size_t const rows = my_end - begin, columns = their_end - begin;
  if (rows == 0 || columns == 0) return partners;
  if (rows > most_pairs / columns) {
    for (std::size_t i = begin; i < begin + std::min(rows, columns); ++i)
      if (same_words(mine[i], theirs[i])) partners[i] = i;
    return partners;
  }
  auto const worth = [&](std::size_t i, std::size_t k) -> std::uint32_t {
    PrintedLine const &one = mine[begin + i], &other = theirs[begin + k];
    return !same_words(one, other) ? 0 : same_numbers(one, other) ? 3 : 2;
  };
  // The most that can be had from line i of mine and line k of theirs on.
  std::vector<std::uint32_t> most((rows + 1) * (columns + 1));
  auto const at = [&](std::size_t i, std::size_t k) -> std::uint32_t& { return most[i * (columns + 1) + k]; };
  for (std::size_t i = rows; i-- > 0;) {
    for (std::size_t k = columns; k-- > 0;) {
      std::uint32_t const pair = worth(i, k);
      at(i, k) = std::max({at(i + 1, k), at(i, k + 1), pair == 0 ? 0 : pair + at(i + 1, k + 1)});
    }
  }
  for (std::size_t i = 0, k = 0; i < rows && k < columns;) {
    std::uint32_t const pair = worth(i, k);
    if (pair != 0 && at(i, k) == pair + at(i + 1, k + 1)) {
      partners[begin + i++] = begin + k++;
    } else {
      at(i, k) == at(i + 1, k) ? ++i : ++k;
    }
  }
  return partners;
}

}  // namespace

std::string shown_line(std::string_view line) {
  constexpr std::size_t most = 100;
  std::string text;
  for (char const letter : line.substr(0, most)) text += letter >= ' ' && letter <= '~' ? letter : '?';
  return line.size() > most ? text + "..." : text;
}

std::string difference_of(Heard const& one, Heard const& other) {
  if (alike(one, other)) return "";
  std::string_view left = one.begin(), right = other.begin();
  for (std::size_t line = 1; !left.empty() || !right.empty(); ++line) {
    std::string_view const mine = take_line(left), theirs = take_line(right);
    if (mine != theirs)
      return "line " + std::to_string(line) + ": '" + shown_line(mine) + "' and '" + shown_line(theirs) + "'";
  }
  return std::to_string(one.bytes()) + " and " + std::to_string(other.bytes()) +
         " bytes, which differ behind the first " + std::to_string(one.begin().size());
}

PrintedOutput::PrintedOutput(Heard first, LinePatterns const& ignored)
    : first_(std::move(first)), ignored_(ignored), lines_(lines_of(first_)), loose_(lines_.size() + 1) {
  ignored_lines_ = printed_lines(first_.begin()).size() - lines_.size();
}

bool PrintedOutput::leaves_nothing() const noexcept {
  return ignored_lines_ > 0 && std::ranges::all_of(lines_, &PrintedLine::blank);
}

std::vector<PrintedLine> PrintedOutput::lines_of(Heard const& output) const {
  std::vector<PrintedLine> all = printed_lines(output.begin());
  std::erase_if(all, [this](PrintedLine const& line) { return ignored_.any_in(line.text); });
  return all;
}

std::string PrintedOutput::widen(Heard const& other) {
  if (alike(first_, other)) return "";
  std::string difference = difference_of(first_, other);
  if (!whole(first_) || !whole(other)) return difference;
  std::vector<PrintedLine> const theirs = lines_of(other);
  lose_but(partners_of(lines_, theirs), theirs);
  if (stray_line_.empty()) return "";
  // Where the lines between these cannot be found again, none is compared.
  if (lines_.size() > most_pairs / (theirs.size() + 1)) lines_.clear();
  bool const some = std::ranges::any_of(lines_, [](PrintedLine const& line) { return !line.blank(); });
  return some ? "" : difference;
}

/// Keeps the lines that have partners.
void PrintedOutput::lose_but(std::span<std::size_t const> partners, std::span<PrintedLine const> theirs) {
  std::vector<PrintedLine> kept;
  std::vector<bool> loose;
  bool before = false;  // Whether others may stand before the next one that is kept.
  std::size_t next = 0;
  auto const stray = [&](PrintedLine const* mine, PrintedLine const* their) {
    before = true;
    if (stray_line_.empty()) stray_line_ = difference_between(mine, their);
  };
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    before = before || loose_[i];
    std::size_t const partner = partners[i];
    if (partner == none) {
      stray(&lines_[i], next < theirs.size() ? &theirs[next] : nullptr);
      continue;
    }
    if (partner > next) stray(nullptr, &theirs[next]);
    next = partner + 1;
    note_numbers(lines_[i], theirs[partner], true);
    loose.push_back(std::exchange(before, false));
    kept.push_back(std::move(lines_[i]));
  }
  if (next < theirs.size()) stray(nullptr, &theirs[next]);
  loose.push_back(before || loose_.back());
  lines_ = std::move(kept);
  loose_ = std::move(loose);
}

/// The difference where no more of `theirs` stands for the lines from `line` on than `reached` says.
std::string PrintedOutput::difference_at(std::size_t line, std::vector<bool> const& reached,
                                         std::span<PrintedLine const> theirs) const {
  bool const all = line == lines_.size();
  auto const first = std::ranges::find(reached, true);
  auto const from = theirs.begin() + std::min(first - reached.begin(), std::ssize(theirs));
  if (all) return difference_between(nullptr, &*from);
  // A line of which only numbers differ is most likely the one.
  auto const alike =
      std::find_if(from, theirs.end(), [&](auto const& their) { return same_words(lines_[line], their); });
  auto const shown = loose_[line] && alike != theirs.end() ? alike : from;
  return difference_between(&lines_[line], shown == theirs.end() ? nullptr : &*shown);
}

/// Compares lines at the same places.
std::string PrintedOutput::compare_in_place(std::span<PrintedLine const> theirs) {
  for (std::size_t i = 0; i < std::max(lines_.size(), theirs.size()); ++i) {
    PrintedLine const* const mine = i < lines_.size() ? &lines_[i] : nullptr;
    PrintedLine const* const their = i < theirs.size() ? &theirs[i] : nullptr;
    if (mine == nullptr || their == nullptr || !same(*mine, *their)) return difference_between(mine, their);
  }
  for (std::size_t i = 0; i < lines_.size(); ++i) note_numbers(lines_[i], theirs[i], false);
  return "";
}

std::string PrintedOutput::compare(Heard const& other) {
  if (alike(first_, other)) return "";
  if (!whole(first_) || !whole(other)) return difference_of(first_, other);
  std::vector<PrintedLine> const theirs = lines_of(other);
  if (std::ranges::find(loose_, true) == loose_.end()) return compare_in_place(theirs);
  std::size_t const columns = theirs.size() + 1;
  if (lines_.size() > most_pairs / columns) return difference_of(first_, other);
  // By number of my lines, how many of theirs may stand for these and for what is loose between them.
  std::vector<std::vector<bool>> reached;
  for (std::size_t i = 0; i <= lines_.size(); ++i) {
    std::vector<bool> row(columns);
    if (i == 0) row[0] = true;
    for (std::size_t k = 0; i > 0 && k + 1 < columns; ++k)
      row[k + 1] = reached[i - 1][k] && same(lines_[i - 1], theirs[k]);
    for (std::size_t k = 0; loose_[i] && k + 1 < columns; ++k) row[k + 1] = row[k + 1] || row[k];
    if (std::ranges::find(row, true) == row.end()) return difference_at(i - 1, reached.back(), theirs);
    reached.push_back(std::move(row));
  }
  if (!reached.back().back()) return difference_at(lines_.size(), reached.back(), theirs);
  for (std::size_t i = lines_.size(), k = theirs.size(); i > 0; --k) {
    if (loose_[i] && k > 0 && reached[i][k - 1]) continue;
    note_numbers(lines_[--i], theirs[k - 1], false);
  }
  return "";
}

std::size_t PrintedOutput::left_out() const noexcept {
  std::size_t count = 0;
  for (PrintedLine const& line : lines_)
    count += static_cast<std::size_t>(std::ranges::count(line.numbers, true, &PrintedLine::Number::seen_other));
  return count;
}

}  // namespace penstock::cli
