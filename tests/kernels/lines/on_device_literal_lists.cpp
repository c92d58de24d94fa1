// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernels_on_device.hpp"
#include "kernels/lines/literal_lists.hpp"
#include "penstock/lines.hpp"

namespace penstock {
namespace {

/// Numbers of the lines that have one of the literals, as the device finds them: each line has its number as its key.
std::vector<std::size_t> lines_found(KernelsOn& on, std::vector<std::string_view> const& lines,
                                     Literals const& literals) {
  std::vector<LineGroup> groups(most_line_groups);
  std::string text;
  for (std::size_t k = 0; k < lines.size(); ++k)
    text.append(std::to_string(k)).append("\t1\t").append(lines[k]) += '\n';
  auto const input = on.memory(text.size()), table = on.memory(literals.table().size());
  auto const sums = on.memory(groups.size() * sizeof(LineGroup));
  on.upload(input, std::as_bytes(std::span(text)));
  on.upload(table, literals.table());
  on.upload(sums, std::as_bytes(std::span(groups)));
  DeviceSpan<std::byte const> const one = input;
  sum_lines(std::span(&one, 1), {.separator = '\t'}, DeviceSpan<std::byte const>(table),
            DeviceSpan<std::byte>(sums).as<LineGroup>(), {}, on.stream());
  on.download(std::as_writable_bytes(std::span(groups)), sums);
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < groups.size(); ++k) {
    if (groups[k].lines != 0) found.push_back(k);
  }
  return found;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

void expect_as_a_plain_search(KernelsOn& on, std::string const& text, LiteralList const& list) {
  auto const lines = lines_of(text);
  ASSERT_LT(lines.size(), most_line_groups);
  std::vector<std::size_t> expected;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    // The number in front of a line may have a literal, too.
    std::string const whole = std::to_string(k) + "\t1\t" + std::string(lines[k]);
    bool const has_one =
        std::ranges::any_of(list.literals, [&](auto const& each) { return whole.find(each) != std::string::npos; });
    if (has_one) expected.push_back(k);
  }
  for (std::string_view const sample : {std::string_view(), std::string_view(text).substr(0, text.size() / 2)}) {
    ASSERT_EQ(lines_found(on, lines, Literals(list.literals, sample)), expected) << list.name;
  }
}

TEST_P(KernelsOn, FindTheLinesOfALogThatAPlainSearchFinds) {
  std::string const text = some_access_log(5, 60'000);
  for (std::size_t const count : {std::size_t{1}, std::size_t{40}, std::size_t{1000}}) {
    for (LiteralList const& list : lists_of_literals(text, count, 7 + static_cast<unsigned>(count))) {
      expect_as_a_plain_search(*this, text, list);
    }
  }
}

TEST_P(KernelsOn, FindLiteralsThatShareAllTheirWindows) {
  std::string text;
  std::mt19937 random(9);
  auto const letters = [&](std::size_t length, unsigned kinds) {
    std::string some(length, ' ');
    std::ranges::generate(some, [&] { return static_cast<char>('a' + random() % kinds); });
    return some;
  };
  for (unsigned k = 0; k < 400; ++k) text += letters(random() % 90, 1 + k % 3) + "\n";
  for (unsigned seed = 0; seed < 12; ++seed) {
    LiteralList list{"letters", {}};
    for (std::size_t k = 4096 >> seed; k > 0; --k)
      list.literals.push_back(letters(9 + seed % 5 + random() % 30, 1 + seed % 3));
    expect_as_a_plain_search(*this, text, list);
  }
  // Each begins the next; and all are longer than any line.
  LiteralList beginnings{"beginnings", {}}, longer{"longer than lines", {}};
  for (std::size_t k = 30; k < 80; ++k) beginnings.literals.push_back("b" + std::string(k, 'a'));
  for (std::size_t k = 0; k < 300; ++k) longer.literals.push_back(letters(100 + k, 2));
  expect_as_a_plain_search(*this, text, beginnings);
  expect_as_a_plain_search(*this, text, longer);
}

}  // namespace
}  // namespace penstock
