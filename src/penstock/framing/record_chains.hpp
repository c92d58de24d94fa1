// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace penstock {

/// Records that follow one another to the end of the bytes, of which the last may go on behind them.
///
/// `Length` gives the length of the record with which bytes begin; 0 if none can begin so, nothing if there are too
/// few.
template <class Length>
class RecordChains {
 public:
  /// As many records as are looked at to judge the first.
  static constexpr std::size_t most = 9;
  using Offsets = std::vector<std::size_t>;

  RecordChains(std::span<std::byte const> bytes, Length const& length)
      : bytes_(bytes), length_(length), known_(bytes.size(), Known::nothing) {}

  /// Where the first of them begins that `fits`, which is given the offsets of some records. There are two at least, or
  /// one that ends with the input.
  template <class Fits>
  std::optional<std::size_t> find(bool end, Fits const& fits) {
    for (std::size_t first = 0; first < bytes_.size(); ++first) {
      if (!lasts(first)) continue;
      Offsets const records = from(first);
      bool const last = end && records.size() == 1 && *length_(bytes_.subspan(first)) == bytes_.size() - first;
      if ((records.size() >= 2 && fits(records)) || last) return first;
    }
    return std::nullopt;
  }

 private:
  enum class Known : std::uint8_t { nothing, breaks, lasts };

  /// True if records follow one another from there to the end of the bytes.
  bool lasts(std::size_t first) {
    std::size_t at = first;
    bool whole = false;
    while (known_[at] == Known::nothing) {
      std::optional<std::uint64_t> const more = length_(bytes_.subspan(at));
      known_[at] = Known::breaks;  // Unless it does not.
      whole = !more || *more >= bytes_.size() - at;
      if (whole || *more == 0) break;
      at += static_cast<std::size_t>(*more);
    }
    if (!whole && known_[at] != Known::lasts) return false;
    for (std::size_t each = first; each != at; each += static_cast<std::size_t>(*length_(bytes_.subspan(each))))
      known_[each] = Known::lasts;
    known_[at] = Known::lasts;
    return true;
  }
  /// The records from there on that have their head within the bytes.
  Offsets from(std::size_t first) const {
    Offsets records;
    for (std::size_t at = first; records.size() < most && at < bytes_.size();) {
      std::optional<std::uint64_t> const more = length_(bytes_.subspan(at));
      if (!more) break;
      records.push_back(at);
      if (*more >= bytes_.size() - at) break;
      at += static_cast<std::size_t>(*more);
    }
    return records;
  }

  std::span<std::byte const> const bytes_;
  Length const& length_;
  std::vector<Known> known_;
};

}  // namespace penstock
