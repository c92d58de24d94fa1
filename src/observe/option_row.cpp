// SPDX-License-Identifier: Apache-2.0
#include "observe/option_row.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock {

bool OptionRow::follows_from(std::string_view other) const noexcept {
  for (std::string_view rest = follows; !rest.empty();) {
    std::size_t const end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == other) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

void OptionRow::set(PipelineOptions& options, std::string_view value) const {
  if (read(options, value, most)) return;
  std::string const bound = std::to_string(most);
  std::string remedy =
      kind == OptionKind::count  ? "give whole numbers from 1 to " + bound + ", or 0 for what suits the machine"
      : kind == OptionKind::time ? "give microseconds, up to " + bound + ", or default for what suits the device"
      : in_bytes()               ? "give up to " + size_text(most)
                                 : "choose from " + words();
  throw Error(ErrorKind::bad_argument,
              "--" + std::string(name) + " '" + std::string(value) + "': " + std::move(remedy) + ".");
}

std::string OptionRow::help(std::string_view value) const {
  std::string all(sentence);
  if (all.ends_with(':')) all += ' ' + words();
  if (kind == OptionKind::count) all += ". At most " + std::to_string(most);
  if (kind == OptionKind::yes_no) return all;
  return all.append(". Default: ").append(!value.empty() ? value : !otherwise.empty() ? otherwise : preset());
}

}  // namespace penstock
