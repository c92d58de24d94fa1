// SPDX-License-Identifier: Apache-2.0
// Results and titles cannot leave the place that they have in a page.
#include "programs/page/results_page.hpp"

#include "fuzz/harness.hpp"

namespace penstock::fuzz {
namespace {

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

}  // namespace

void try_input(std::string_view input) {
  static std::string const empty = results_page("", "");
  std::string const title(take_until(input, '\1'));
  std::string const page = results_page(input, title);
  require(page.size() >= empty.size() + input.size() + title.size(), "nothing is left out");
  for (char const* const mark : {"<", ">"}) {
    std::size_t const own = *mark == '>' ? count(input, mark) : 0;
    require(count(page, mark) == count(empty, mark) + own, "results and titles open no element");
  }
}

}  // namespace penstock::fuzz
