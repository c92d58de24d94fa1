// SPDX-License-Identifier: Apache-2.0
// A line of a check list is an expected sum or a reason, and a path that is printed is read as it was.
#include "fuzz/harness.hpp"

#include "programs/hash/check_list.hpp"

namespace penstock::fuzz {

void try_input(std::string_view input) {
  std::string const hex(64, 'a');
  auto const parsed = cli::parse_sum_line(input);
  if (auto const* const sum = std::get_if<cli::ExpectedSum>(&parsed)) {
    require(sum->hex.size() == 64, "an expected sum has 64 digits");
    require(sum->path.size() <= input.size(), "a path is no longer than its line");
    // Some lines of b3sum's have an escape that they do not need.
    auto const again = cli::parse_sum_line(cli::sum_line(sum->hex, sum->path));
    auto const* const same = std::get_if<cli::ExpectedSum>(&again);
    bool const text = cli::printed(sum->path).text.find("\xEF\xBF\xBD") == std::string::npos;
    require(!text || sum->path.empty() || (same != nullptr && same->path == sum->path && same->hex == sum->hex),
            "what was read of a line is written so that it reads the same");
  } else {
    require(!std::get<std::string>(parsed).empty(), "a line that is none has a reason");
  }

  cli::PrintedPath const shown = cli::printed(input);
  require(shown.text.find('\n') == std::string::npos, "a path that is printed takes one line");
  require(shown.escaped == (input.find_first_of("\\\n") != std::string_view::npos), "the mark says what was escaped");
  cli::PrintedPath const twice = cli::printed(shown.text);
  require(shown.escaped || twice.text == shown.text, "what is printed is text");
  auto const own = cli::parse_sum_line(cli::sum_line(hex, input));
  bool const text =
      !input.empty() && shown.text.find("\xEF\xBF\xBD") == std::string::npos && input.find('\0') == input.npos;
  auto const* const sum = std::get_if<cli::ExpectedSum>(&own);
  require((sum != nullptr) == text, "a line is read again if its path is text");
  require(sum == nullptr || sum->path == input, "a path is read again as it was");
}

}  // namespace penstock::fuzz
