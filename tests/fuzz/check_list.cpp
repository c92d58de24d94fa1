// SPDX-License-Identifier: Apache-2.0
// Each line of a check list comes to a file or to a problem, whatever it holds.
#include "programs/hash/check_list.hpp"

#include <algorithm>

#include "fuzz/harness.hpp"

namespace penstock::fuzz {

void try_input(std::string_view input) {
  static Folder const folder;
  folder.write("sums", input);
  std::size_t problems = 0, files = 0;
  cli::CheckList list({folder.path() + "/sums"},
                      [&](std::string const&, std::string const& what) {
                        ++problems;
                        require(what.starts_with("line "), "a problem names its line");
                      },
                      {});
  while (auto const wanted = list.next()) {
    ++files;
    require(wanted->expected.size() == 64, "a file has a sum to be compared with");
  }
  auto const newlines = static_cast<std::size_t>(std::count(input.begin(), input.end(), '\n'));
  std::size_t const lines = newlines + (input.empty() || input.back() == '\n' ? 0 : 1);
  require(files + problems == lines, "each line comes to a file or to a problem");
}

}  // namespace penstock::fuzz
