// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace penstock {

/// Finds chains of records up to the end of the bytes. The last record may continue behind them, but not behind the
/// `end` of the input.
///
/// `Length` returns the length of the record at the beginning of some bytes; 0 if none can begin there, nothing if
/// there are too few bytes.
template <class Length>
class RecordChains {
 public:
  RecordChains(std::span<std::byte const> bytes, bool end, Length const& length)
      : bytes_(bytes), end_(end), length_(length), known_(bytes.size(), Known::nothing) {}

  /// Returns the first place, among the multiples of `step`, where a chain of at least two records begins, or a record
  /// that ends with the input.
  std::optional<std::size_t> find(std::size_t step) {
    for (std::size_t first = 0; first < bytes_.size(); first += step) {
      if (!lasts(first)) continue;
      auto const length = length_(bytes_.subspan(first));
      if (!length) return std::nullopt;
      std::size_t const rest = bytes_.size() - first;
      if (*length < rest ? length_(bytes_.subspan(first + static_cast<std::size_t>(*length))).has_value() : end_)
        return first;
    }
    return std::nullopt;
  }

 private:
  enum class Known : std::uint8_t { nothing, breaks, lasts };

  /// True if records follow one another from `first` to the end of the bytes.
  bool lasts(std::size_t first) {
    std::size_t at = first;
    bool whole = false;
    while (known_[at] == Known::nothing) {
      std::optional<std::uint64_t> const more = length_(bytes_.subspan(at));
      known_[at] = Known::breaks;  // Provisional: corrected below if the chain lasts.
      std::size_t const rest = bytes_.size() - at;
      whole = end_ ? more == rest : !more || *more >= rest;
      if (end_ && (!more || *more > rest)) break;
      if (whole || *more == 0) break;
      at += static_cast<std::size_t>(*more);
    }
    if (!whole && known_[at] != Known::lasts) return false;
    for (std::size_t each = first; each != at; each += static_cast<std::size_t>(*length_(bytes_.subspan(each))))
      known_[each] = Known::lasts;
    known_[at] = Known::lasts;
    return true;
  }

  std::span<std::byte const> const bytes_;
  bool const end_;
  Length const& length_;
  std::vector<Known> known_;
};

}  // namespace penstock
