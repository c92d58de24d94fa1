// SPDX-License-Identifier: Apache-2.0
// Whatever a compressed input holds, it decodes to the same in small steps and in large ones, or is refused with a
// sentence, and its members are where their headers say. An input is a line that says how large steps are; the rest is
// the data. What decodes to more than a mebibyte is decoded so far.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuzz/harness.hpp"

#include "ingest/decoding/decoder.hpp"
#include "ingest/decoding/lz4_parts.hpp"
#include "ingest/decoding/members.hpp"

namespace penstock::fuzz {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;

std::span<std::byte const> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Returns what the data decode to, if they can be decoded, in steps of `in` and `out` bytes.
std::optional<std::string> decoded(Compression compression, std::string_view data, std::size_t in, std::size_t out) {
  std::string all;
  std::vector<std::byte> room(out);
  try {
    Decoder decoder(compression);
    for (std::string_view held; all.size() < most_bytes;) {
      auto const step = decoder.decode(bytes_of(held), room);
      require(step.taken <= held.size() && step.given <= room.size(), "a step stays within what it has");
      all.append(reinterpret_cast<char const*>(room.data()), step.given);
      held.remove_prefix(step.taken);
      if (!step.none()) continue;
      require(held.empty(), "what needs more has taken all");
      if (data.empty()) {
        decoder.expect_border();
        break;
      }
      held = data.substr(0, in);
      data.remove_prefix(held.size());
    }
  } catch (Error const& error) {
    require(error.what()[0] != '\0', "what is refused has a reason");
    return std::nullopt;
  }
  return all;
}

/// A frame of lz4 that is decoded in parts comes to the same.
void find_parts(ReadCompressed const& read, std::string_view data, std::string const& text) {
  auto parts = Lz4Parts::of(read, 0, data.size());
  if (!parts) return;
  std::string all;
  while (!parts->ended()) {
    auto const part = parts->next(read, 1);
    require(part.begin <= part.end && part.end <= data.size(), "a part lies within the data");
    std::string const own = part.before +
                            std::string(data.substr(static_cast<std::size_t>(part.begin),
                                                    static_cast<std::size_t>(part.end - part.begin))) +
                            part.behind;
    auto const one = decoded(Compression::lz4, own, own.size(), 8 * most_bytes);
    require(one.has_value() && one->size() <= part.most, "a part of what can be decoded can be decoded");
    all += *one;
  }
  require(text.starts_with(all), "parts decode to what all of them decode to");
}

void find_members(Compression compression, std::string_view data, std::string const& text) {
  auto const read = [&](std::uint64_t offset, std::span<std::byte> to) {
    auto const part = bytes_of(data.substr(std::min<std::size_t>(offset, data.size()), to.size()));
    std::ranges::copy(part, to.begin());
    return part.size();
  };
  if (compression == Compression::lz4) find_parts(read, data, text);
  std::string all;
  for (std::uint64_t at = 0; at < data.size();) {
    auto const member = find_member(compression, read, at, data.size(), most_bytes);
    if (!member) return;
    require(member->end > at && member->end <= data.size(), "a member lies within the data");
    auto const own = data.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(member->end - at));
    auto const one = decoded(compression, own, own.size(), most_bytes);
    // The header of gzip is believed, and a decoder that looks at all of it may not agree.
    if (!one || one->size() > member->most) return;
    all += *one;
    at = member->end;
  }
  require(all.size() >= most_bytes || all == text, "members decode to what all of them decode to");
}

}  // namespace

void try_input(std::string_view input) {
  auto const line = take_until(input, '\n');
  auto const size_at = [&](std::size_t place) {
    return place < line.size() ? 1 + static_cast<std::size_t>(static_cast<unsigned char>(line[place])) : 4096;
  };
  auto const compression = compression_of(bytes_of(input.substr(0, magic_bytes)), true);
  if (*compression == Compression::none) return;
  auto const small = decoded(*compression, input, size_at(0), 16 * size_at(1));
  auto const large = decoded(*compression, input, input.size(), 2 * most_bytes);
  if (!small || small->size() >= most_bytes) return;
  // A frame that comes as a whole may have a window that is too large for it in parts.
  require(large.has_value(), "what can be decoded in small steps can be in large ones");
  require(*small == *large, "all steps give the same");
  find_members(*compression, input, *small);
}

}  // namespace penstock::fuzz
