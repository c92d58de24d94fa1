// SPDX-License-Identifier: Apache-2.0
// Any bytes are lines: each is counted once, in whatever pieces they come. The first line says how lines have fields.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "fuzz/harness.hpp"
#include "support/inline_stream.hpp"

#include "penstock/error.hpp"
#include "penstock/lines.hpp"

namespace penstock::fuzz {
namespace {

using Groups = std::vector<LineGroup>;

void add(std::string_view text, LineFields const& fields, Groups& groups, LineReasons& reasons) {
  support::InlineStream stream;
  // A copy of that size: what is read beyond it is seen.
  std::vector<char> const bytes(text.begin(), text.end());
  DeviceSpan<std::byte const> const input(std::as_bytes(std::span(bytes)));
  sum_lines(std::span(&input, 1), fields, {}, DeviceSpan<LineGroup>(std::span(groups)),
            DeviceSpan<LineReasons>(std::span(&reasons, 1)), StreamRef(stream));
}

}  // namespace

void try_input(std::string_view input) {
  auto const head = take_until(input, '\n');
  auto const at = [&](std::size_t k) { return k < head.size() ? head[k] : '\0'; };
  LineFields fields{.separator = at(0),
                    .quote = at(1),
                    .escape = at(2),
                    .brackets = at(3) == '[',
                    .key = static_cast<unsigned char>(at(4)) % 8U,
                    .number = static_cast<unsigned char>(at(5)) % 8U};
  if (head == "log") fields = access_log_fields;
  if (at(6) == 'w') fields.format = LineFormat::words;
  if (at(6) == 'j') {
    fields.format = LineFormat::json;
    fields.key_name = LineName(at(4) == '.' ? "k.k.k" : "k");
    fields.number_name = LineName("some number");
  }
  fields.decimal = at(7) != '\0';
  fields.places = static_cast<unsigned char>(at(7)) % 20U;
  fields.group_seconds = static_cast<unsigned char>(at(8));
  Groups all(10), pieces(10);
  LineReasons reasons, pieces_reasons;
  try {
    add(input, fields, all, reasons);
    for (std::string_view rest = input; !rest.empty();) {
      std::size_t const end = std::min(rest.find('\n'), rest.size() - 1) + 1;
      add(rest.substr(0, end), fields, pieces, pieces_reasons);
      rest.remove_prefix(end);
    }
  } catch (Error const& error) {
    require(error.kind() == ErrorKind::bad_argument, "a refusal is of what was given");
    return;
  }
  require(all == pieces && reasons == pieces_reasons, "lines have the same fields by themselves");
  require(std::accumulate(std::begin(reasons.keys), std::end(reasons.keys), std::uint64_t{0}) == all.back().lines,
          "each line without a group has a reason");
  std::uint64_t lines = 0;
  for (LineGroup const& group : all) lines += group.lines;
  auto const ends = static_cast<std::uint64_t>(std::ranges::count(input, '\n'));
  std::uint64_t const expected = ends + (input.empty() || input.back() == '\n' ? 0 : 1);
  bool const json = fields.format == LineFormat::json;
  require(lines == expected || (json && lines > expected), "each line is counted once, or once for each of its texts");
}

}  // namespace penstock::fuzz
