// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/radio.hpp"

namespace penstock {
namespace {

constexpr std::uint64_t known_for = 60 * std::uint64_t{2'000'000};  // Samples.

/// Time of the last identification of each aircraft: a table of places, at least half of them free.
class KnownAircraft {
 public:
  std::size_t count() const noexcept { return count_; }
  void name(std::uint32_t address, std::uint64_t sample) {
    if (2 * (count_ + 1) > places_.size()) grow();
    Place& place = place_of(address);
    if (place.address == nothing) ++count_;
    place = {address, sample};
  }
  bool knows(std::uint32_t address, std::uint64_t sample) noexcept {
    Place const& place = place_of(address);
    return place.address == address && sample - place.named <= known_for;
  }

 private:
  static constexpr std::uint32_t nothing = 0xFFFFFFFF;  // An address has 24 bits.
  struct Place {
    std::uint32_t address = nothing;
    std::uint64_t named = 0;
  };

  /// The place of the address, or the free one where it would be.
  Place& place_of(std::uint32_t address) noexcept {
    std::size_t at = address * 0x9E3779B1U >> shift_;
    while (places_[at].address != address && places_[at].address != nothing) at = (at + 1) % places_.size();
    return places_[at];
  }
  void grow() {
    std::vector<Place> const old = std::exchange(places_, std::vector<Place>(2 * places_.size()));
    --shift_;
    for (Place const& place : old) {
      if (place.address != nothing) place_of(place.address) = place;
    }
  }

  unsigned shift_ = 32 - 8;
  std::vector<Place> places_ = std::vector<Place>(std::size_t{1} << 8U);
  std::size_t count_ = 0;
};

/// Number of blocks that memory is prefetched ahead: a block's frames are a few cache lines, which the processor would
/// not expect.
constexpr std::size_t blocks_ahead = 8;
void prefetch(ModeSBlock const& block) {
  constexpr std::size_t line = 64, lines = 5;  // Some 15 frames.
  for (std::size_t k = 0; k < lines; ++k) __builtin_prefetch(reinterpret_cast<char const*>(&block) + k * line);
}

/// The two hexadecimal digits of each byte.
constexpr std::array<std::array<char, 2>, 256> make_digits() {
  constexpr char digits[] = "0123456789ABCDEF";
  std::array<std::array<char, 2>, 256> all{};
  for (std::size_t byte = 0; byte < all.size(); ++byte) all[byte] = {digits[byte / 16], digits[byte % 16]};
  return all;
}

}  // namespace

class ModeSReceiver::Parts {
 public:
  Parts(std::uint64_t overlap, bool offsets) : overlap_(overlap), offsets_(offsets) {}

  void take(std::uint64_t samples, std::span<ModeSBlock const> blocks) {
    // Frames that begin in the overlap belong to the next tile, if there is one.
    next_tile_.clear();
    std::uint64_t const first = end_ - std::min(end_, overlap_), end = first + samples;
    std::uint64_t const own_end = end - std::min(end, overlap_);
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      if (k + blocks_ahead < blocks.size()) prefetch(blocks[k + blocks_ahead]);
      auto const frames = blocks[k].kept();
      lost_ += blocks[k].found - frames.size();
      for (std::uint32_t const place : in_order(frames, k * mode_s_block_samples)) {
        std::uint64_t const sample = first + frames[place].sample;
        if (sample < own_end) {
          hear(sample, frames[place]);
        } else {
          next_tile_.push_back({sample, frames[place]});
        }
      }
    }
    end_ = end;
    write_out();
  }
  void finish() {
    for (Heard const& heard : std::exchange(next_tile_, {})) hear(heard.sample, heard.frame);
    if (std::exchange(waits_, false)) judge(between_.sample, between_.frame);
    write_out();
  }
  std::string const& lines() const noexcept { return lines_; }
  std::string take_lines() noexcept { return std::exchange(lines_, {}); }
  std::uint64_t lost() const noexcept { return lost_; }
  std::string summary() const {
    std::string text;
    std::uint64_t all = 0;
    for (std::size_t format = 0; format < formats_.size(); ++format) {
      if (formats_[format] == 0) continue;
      text += "# DF" + std::to_string(format) + " " + std::to_string(formats_[format]) + "\n";
      all += formats_[format];
    }
    text += "# frames " + std::to_string(all) + ", aircraft " + std::to_string(aircraft_.count()) + "\n";
    if (lost_ != 0) text += "# lost: " + std::to_string(lost_) + ", where too many began side by side\n";
    return text;
  }

 private:
  struct Heard {
    std::uint64_t sample = 0;  ///< Number of the sample in the input.
    ModeSFrame frame;
  };

  /// The frames of a block, as indices in the order of their begin. There are few, and most are nearly in order.
  std::span<std::uint32_t const> in_order(std::span<ModeSFrame const> frames, std::uint64_t first_sample) {
    static_assert(mode_s_block_frames <= 64);
    std::uint32_t* const places = places_.data();
    for (std::uint32_t k = 0; k < frames.size(); ++k) {
      auto const key = static_cast<std::uint32_t>(frames[k].begin() - 2 * first_sample) * 64 + k;
      std::size_t at = k;
      for (; at != 0 && places[at - 1] > key; --at) places[at] = places[at - 1];
      places[at] = key;
    }
    for (std::size_t k = 0; k < frames.size(); ++k) places[k] %= 64;
    return {places, frames.size()};
  }
  /// A frame that begins between samples is sometimes also heard in the next sample, and is then reported there.
  void hear(std::uint64_t sample, ModeSFrame const& frame) {
    bool const whole = frame.between == 0;
    if (std::exchange(waits_, false)) {
      bool const again = whole && sample == between_.sample + 1 && frame.bytes == between_.frame.bytes;
      if (!again) judge(between_.sample, between_.frame);
    }
    if (whole) return judge(sample, frame);
    between_ = {sample, frame};
    waits_ = true;
  }
  void judge(std::uint64_t sample, ModeSFrame const& frame) {
    // A reply is sometimes read as a frame in two places, or in a part of itself.
    if (sample < silent_until_) return;
    std::uint32_t const remainder = frame.remainder();
    unsigned const format = frame.format();
    bool const names_itself = format == 11 || format == 17 || format == 18;
    if (names_itself && remainder == 0) {
      if (format != 18) aircraft_.name(frame.address(), sample);
    } else if (!aircraft_.knows(names_itself ? frame.address() : remainder, sample)) {
      return;  // The parity field has an interrogator's code or the address added to the parity.
    }
    silent_until_ = sample + 16 + 16 * std::uint64_t{frame.length};
    ++formats_.at(format);
    print(sample, frame);
  }
  void print(std::uint64_t sample, ModeSFrame const& frame) {
    static constexpr auto digits = make_digits();
    if (offsets_) {
      write_out();
      lines_ += std::to_string(sample) + " ";
    }
    if (written_ + longest_line > some_lines_.size()) write_out();
    char* const to = &some_lines_[written_];
    to[0] = '*';
    // A short frame has zeros behind it, which the next line replaces.
    for (std::size_t k = 0; k < sizeof frame.bytes; ++k) {
      auto const& both = digits[frame.bytes[k]];
      to[1 + 2 * k] = both[0];
      to[2 + 2 * k] = both[1];
    }
    std::size_t const end = 1 + 2 * std::min<std::size_t>(frame.length, frame.bytes.size());
    to[end] = ';';
    to[end + 1] = '\n';
    written_ += end + 2;
  }
  void write_out() { lines_.append(some_lines_.data(), std::exchange(written_, 0)); }

  static constexpr std::size_t longest_line = 2 * sizeof(ModeSFrame::bytes) + 3;
  std::uint64_t overlap_;
  bool offsets_;
  std::uint64_t end_ = 0;  ///< Samples of the input so far.
  std::uint64_t silent_until_ = 0;
  std::uint64_t lost_ = 0;
  std::vector<Heard> next_tile_;
  Heard between_;  ///< Valid if `waits_`: a frame that is not judged yet.
  bool waits_ = false;
  std::array<std::uint32_t, mode_s_block_frames> places_{};
  KnownAircraft aircraft_;
  std::array<std::uint64_t, 32> formats_{};
  std::string lines_;
  std::array<char, 4096> some_lines_;  ///< The `written_` characters behind `lines_`.
  std::size_t written_ = 0;
};

ModeSReceiver::ModeSReceiver(std::uint64_t overlap, bool offsets) : parts_(std::make_unique<Parts>(overlap, offsets)) {}
ModeSReceiver::ModeSReceiver(ModeSReceiver&&) noexcept = default;
ModeSReceiver& ModeSReceiver::operator=(ModeSReceiver&&) noexcept = default;
ModeSReceiver::~ModeSReceiver() = default;

void ModeSReceiver::take(std::uint64_t samples, std::span<ModeSBlock const> blocks) {
  parts_->take(samples, blocks);
}
void ModeSReceiver::finish() {
  parts_->finish();
}
std::string const& ModeSReceiver::lines() const noexcept {
  return parts_->lines();
}
std::string ModeSReceiver::take_lines() noexcept {
  return parts_->take_lines();
}
std::uint64_t ModeSReceiver::lost() const noexcept {
  return parts_->lost();
}
std::string ModeSReceiver::summary() const {
  return parts_->summary();
}

}  // namespace penstock
