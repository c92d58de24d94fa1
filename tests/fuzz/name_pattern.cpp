// SPDX-License-Identifier: Apache-2.0
// A text is a pattern for the names of files that roll or is refused with a sentence, and each name that a pattern
// makes has the number that it was made for. The first line is the pattern, the second a name that others have made.
#include "egress/sink/name_pattern.hpp"

#include "fuzz/harness.hpp"

#include "penstock/error.hpp"

namespace penstock::fuzz {

void try_input(std::string_view input) {
  auto const text = take_until(input, '\n');
  try {
    NamePattern const pattern(text);
    std::chrono::system_clock::time_point const time(std::chrono::seconds(1'700'000'000));
    for (std::uint64_t const number : {std::uint64_t{0}, std::uint64_t{1'234'567}, ~std::uint64_t{0}}) {
      require(pattern.number_of(pattern.name(number, time)) == number, "a name has the number that it was made for");
    }
    static_cast<void>(pattern.number_of(input));
  } catch (Error const& error) {
    require(error.kind() == ErrorKind::bad_argument, "a refusal is of what was given");
  }
}

}  // namespace penstock::fuzz
