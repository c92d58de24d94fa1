// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/option_bounds.hpp"

#include "penstock/error.hpp"

namespace penstock {
namespace {

/// The text of the refusal of options that are not within the bound.
std::string refusal_of(OptionBound const& bound, PipelineOptions const& options) {
  std::string const name(bound.name), most = std::to_string(bound.most);
  switch (bound.kind) {
    case BoundKind::threads:
      return "A pipeline has up to " + most + " " + name + ", not " + std::to_string(bound.value(options)) +
             ": ask for about as many as there are CPUs.";
    case BoundKind::time:
      return "`" + name + "` is a time before now: give 0 us or more, or leave it empty.";
    case BoundKind::word:
      return "`" + name + "` has a value that there is not: choose from " + bound.words() + ".";
    case BoundKind::number:
    case BoundKind::typed:
      break;
  }
  return "`" + name + "` is at most " + most + ", not " + std::to_string(bound.value(options)) + ": ask for fewer.";
}

}  // namespace

void expect_in_bounds(PipelineOptions const& options) {
  for (OptionBound const& bound : option_bounds) {
    if (!bound.is_within(options)) throw Error(ErrorKind::bad_argument, refusal_of(bound, options));
  }
}

}  // namespace penstock
