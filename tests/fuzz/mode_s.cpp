// SPDX-License-Identifier: Apache-2.0
// Any bytes are samples: a frame that is found in them lies in them, and is found again where they begin elsewhere.
#include <algorithm>
#include <vector>

#include "fuzz/harness.hpp"
#include "support/inline_stream.hpp"

#include "penstock/error.hpp"
#include "penstock/radio.hpp"

namespace penstock::fuzz {
namespace {

std::vector<ModeSFrame> frames_of(std::string_view input) {
  std::vector<char> const bytes(input.begin(), input.end());
  std::vector<ModeSBlock> blocks(mode_s_blocks(bytes.size()));
  support::InlineStream stream;
  find_mode_s(DeviceSpan<std::byte const>(std::as_bytes(std::span(bytes))), DeviceSpan<ModeSBlock>(std::span(blocks)),
              StreamRef(stream));
  std::vector<ModeSFrame> all;
  for (ModeSBlock const& block : blocks) {
    all.insert(all.end(), block.kept().begin(), block.kept().end());
  }
  std::ranges::sort(all, {}, &ModeSFrame::begin);
  return all;
}

}  // namespace

void try_input(std::string_view input) {
  auto const all = frames_of(input);
  for (ModeSFrame const& frame : all) {
    require(frame.length == 7 || frame.length == 14, "a frame is short or long");
    std::size_t const samples = frame.length == 7 ? mode_s_short_samples : mode_s_long_samples;
    require(2 * (frame.sample + samples) <= input.size(), "a frame ends within the input");
    if (frame.format() == 17 || frame.format() == 18) require(frame.remainder() == 0, "its parity is right");
  }
  if (all.size() >= mode_s_block_frames || all.empty() || all.front().sample == 0) return;
  auto again = frames_of(input.substr(2));
  for (ModeSFrame& frame : again) ++frame.sample;
  require(again == all, "what is found does not depend on where the samples begin");
}

}  // namespace penstock::fuzz
