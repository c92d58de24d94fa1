// SPDX-License-Identifier: Apache-2.0
// A text is a size or is refused with a sentence, and each size has a text.
#include "fuzz/harness.hpp"

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock::fuzz {

void try_input(std::string_view input) {
  std::uint64_t bytes = 0;
  try {
    bytes = parse_size(input);
  } catch (Error const& error) {
    require(error.kind() == ErrorKind::bad_argument, "a refusal is of what was given");
    return;
  }
  require(!size_text(bytes).empty(), "each size has a text");
  try {
    require(parse_size(std::to_string(bytes)) == bytes, "a number of bytes is a size");
  } catch (Error const& error) {
    require(false, error.what());
  }
}

}  // namespace penstock::fuzz
