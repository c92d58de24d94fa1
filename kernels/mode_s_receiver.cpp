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

#include "penstock/mode_s.hpp"

namespace penstock {
namespace {

constexpr std::uint64_t known_for = 60 * std::uint64_t{2'000'000};  // Samples.

/// When each aircraft named itself last: a table of places, of which half are free at least.
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

  /// That of the address, or the free one where it would be.
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

/// Two digits of each byte.
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
    // What begins where the next tile will begin again is that one's, if there is one.
    next_tile_.clear();
    std::uint64_t const first = end_ - std::min(end_, overlap_), end = first + samples;
    std::uint64_t const own_end = end - std::min(end, overlap_);
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      for (ModeSFrame const& frame : in_order(blocks, k)) {
        Heard const heard{first + frame.sample, frame};
        if (heard.sample < own_end) {
          hear(heard);
        } else {
          next_tile_.push_back(heard);
        }
      }
    }
    end_ = end;
  }
  void finish() {
    for (Heard const& heard : std::exchange(next_tile_, {})) hear(heard);
    if (std::exchange(waits_, false)) judge(between_);
  }
  std::string const& lines() const noexcept { return lines_; }
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
    std::uint64_t sample = 0;  ///< Of the input.
    ModeSFrame frame;
  };

  std::span<ModeSFrame const> in_order(std::span<ModeSBlock const> blocks, std::size_t k) {
    auto const kept = blocks[k].kept();
    lost_ += blocks[k].found - kept.size();
    sorted_.assign(kept.begin(), kept.end());
    std::ranges::sort(sorted_, {}, &ModeSFrame::begin);
    return sorted_;
  }
  /// One that begins between samples is heard in the next sample as well at times, and is then said to be there.
  void hear(Heard const& heard) {
    bool const whole = heard.frame.between == 0;
    if (std::exchange(waits_, false)) {
      bool const again = whole && heard.sample == between_.sample + 1 && heard.frame.bytes == between_.frame.bytes;
      if (!again) judge(between_);
    }
    if (whole) return judge(heard);
    between_ = heard;
    waits_ = true;
  }
  void judge(Heard const& heard) {
    // A reply reads as a frame in two places at times, or in a part of itself.
    if (heard.sample < silent_until_) return;
    std::uint32_t const remainder = heard.frame.remainder();
    unsigned const format = heard.frame.format();
    bool const names_itself = format == 11 || format == 17 || format == 18;
    if (names_itself && remainder == 0) {
      if (format != 18) aircraft_.name(heard.frame.address(), heard.sample);
    } else if (!aircraft_.knows(names_itself ? heard.frame.address() : remainder, heard.sample)) {
      return;  // The parity has an interrogator's code or the address beside it.
    }
    silent_until_ = heard.sample + 16 + 16 * std::uint64_t{heard.frame.length};
    ++formats_.at(format);
    print(heard);
  }
  void print(Heard const& heard) {
    static constexpr auto digits = make_digits();
    if (offsets_) lines_ += std::to_string(heard.sample) + " ";
    std::array<char, 2 * sizeof heard.frame.bytes + 3> line{'*'};
    std::size_t end = 1;
    for (std::size_t k = 0; k < heard.frame.length; ++k, end += 2) {
      std::memcpy(&line[end], digits[heard.frame.bytes[k]].data(), 2);
    }
    line[end++] = ';';
    line[end++] = '\n';
    lines_.append(line.data(), end);
  }

  std::uint64_t overlap_;
  bool offsets_;
  std::uint64_t end_ = 0;  ///< Samples of the input so far.
  std::uint64_t silent_until_ = 0;
  std::uint64_t lost_ = 0;
  std::vector<Heard> next_tile_;
  Heard between_;  ///< If `waits_`: not judged yet.
  bool waits_ = false;
  std::vector<ModeSFrame> sorted_;
  KnownAircraft aircraft_;
  std::array<std::uint64_t, 32> formats_{};
  std::string lines_;
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
std::string ModeSReceiver::summary() const {
  return parts_->summary();
}

}  // namespace penstock
