// SPDX-License-Identifier: Apache-2.0
// A text is a profile or is refused with a sentence, and a profile that was read is written so that it reads the same.
#include "fuzz/harness.hpp"

#include "penstock/error.hpp"
#include "penstock/operate/operation.hpp"

namespace penstock::fuzz {

void try_input(std::string_view input) {
  Profile profile;
  try {
    profile = parse_profile(input, "input");
  } catch (Error const& error) {
    require(error.kind() == ErrorKind::bad_argument, "a refusal is of what was given");
    require(std::string_view(error.what()).ends_with("with tune --save."), "a refusal says what to do");
    return;
  }
  std::string const written = profile_text(profile);
  try {
    require(profile_text(parse_profile(written, "written")) == written, "a profile reads as it was written");
  } catch (Error const& error) {
    require(false, error.what());
  }
  PipelineOptions const applied = profile.apply({});
  require(applied.tuning.tiles == profile.options.tuning.tiles, "a profile sets the options that it has");
}

}  // namespace penstock::fuzz
