// SPDX-License-Identifier: Apache-2.0
// Fields of a line that are numbers, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "penstock/lines.hpp"

// These functions are for the GPU only in a CUDA source. Those marked APART are called for few lines, and are not
// inlined into their callers.
#ifdef __CUDACC__
#define PENSTOCK_WALKS_THERE __device__
#define PENSTOCK_WALKS_APART __device__ __noinline__
#else
#define PENSTOCK_WALKS_THERE
#define PENSTOCK_WALKS_APART [[gnu::noinline]]
#endif

namespace penstock {

/// The value of this digit; larger than 9 if it is none.
PENSTOCK_WALKS_THERE constexpr unsigned digit_of(char byte) {
  return static_cast<unsigned>(static_cast<unsigned char>(byte)) - unsigned{'0'};
}

/// The bytes of a text.
struct TextBytes {
  char const* text;

  PENSTOCK_WALKS_THERE constexpr char operator()(std::uint64_t at) const { return text[at]; }
};

/// A field that should be a number of decimal digits, at most 64 bits.
struct FieldNumber {
  std::uint64_t value = 0;
  bool digits = false;
  bool wrong = false;

  PENSTOCK_WALKS_THERE constexpr void take(char byte) {
    constexpr std::uint64_t most = ~std::uint64_t{0};
    unsigned const digit = digit_of(byte);
    wrong = wrong || digit > 9 || value > most / 10 || (value == most / 10 && digit > most % 10);
    value = value * 10 + digit;
    digits = true;
  }
  PENSTOCK_WALKS_THERE constexpr bool good() const { return digits && !wrong; }
};

/// A field that should be a number with a sign, a point and an exponent, each of which may be missing.
class FieldDecimal {
 public:
  FieldDecimal() = default;
  /// Makes one with this value.
  PENSTOCK_WALKS_THERE constexpr explicit FieldDecimal(std::uint32_t value)
      : value_(value), part_(Part::whole), digits_(true) {}

  PENSTOCK_WALKS_THERE constexpr void take(char byte) {
    unsigned const digit = digit_of(byte);
    if (digit <= 9) {
      take_digit(digit);
    } else if ((byte == '-' || byte == '+') && (part_ == Part::begin || part_ == Part::exponent)) {
      (part_ == Part::begin ? negative_ : negative_exponent_) = byte == '-';
      part_ = part_ == Part::begin ? Part::sign : Part::exponent_sign;
    } else if (byte == '.' && part_ <= Part::whole) {
      part_ = Part::fraction;
    } else if ((byte == 'e' || byte == 'E') && digits_ && part_ <= Part::fraction) {
      part_ = Part::exponent;
    } else {
      wrong_ = true;
    }
  }
  /// The number in units of 10^-places, without its sign. A reason other than `used` says that it is no number, not a
  /// whole number of units, or too large.
  PENSTOCK_WALKS_THERE constexpr LineReason scaled(std::uint32_t places, std::uint64_t& units) const {
    if (!digits_ || wrong_ || part_ == Part::exponent || part_ == Part::exponent_sign) return LineReason::text;
    units = value_;
    if (value_ == 0) return LineReason::used;
    // Behind a point or an exponent the last digit of value_ is not 0, so a power below 0 leaves a remainder.
    std::int64_t power = zeros_ - behind_point_ + (negative_exponent_ ? -exponent_ : exponent_) + places;
    if (power < 0) return LineReason::not_whole;
    if (too_large_) return LineReason::too_large;
    for (; power > 0; --power) {
      if (units > most / 10) return LineReason::too_large;
      units *= 10;
    }
    return LineReason::used;
  }
  /// True if the number is below 0.
  PENSTOCK_WALKS_THERE constexpr bool negative() const { return negative_ && value_ != 0; }

 private:
  /// The part that was taken last; the parts come in this order.
  enum class Part : unsigned char { begin, sign, whole, fraction, exponent, exponent_sign, exponent_digits };
  static constexpr std::uint64_t most = ~std::uint64_t{0};

  PENSTOCK_WALKS_THERE constexpr void take_digit(unsigned digit) {
    if (part_ >= Part::exponent) {
      part_ = Part::exponent_digits;
      // No field has enough digits for a larger exponent to make a difference.
      if (exponent_ < std::int64_t{1} << 40U) exponent_ = exponent_ * 10 + digit;
      return;
    }
    digits_ = true;
    if (part_ == Part::fraction) {
      ++behind_point_;
    } else {
      part_ = Part::whole;
    }
    if (digit == 0) {
      if (value_ != 0) ++zeros_;
      return;
    }
    for (; zeros_ > 0 && !too_large_; --zeros_) append(0);
    append(digit);
  }
  PENSTOCK_WALKS_THERE constexpr void append(unsigned digit) {
    too_large_ = too_large_ || value_ > most / 10 || (value_ == most / 10 && digit > most % 10);
    if (!too_large_) value_ = value_ * 10 + digit;
  }

  std::uint64_t value_ = 0;  ///< Value of the digits up to the last one that is not 0.
  std::int64_t zeros_ = 0;   ///< Digits behind that one.
  std::int64_t behind_point_ = 0;
  std::int64_t exponent_ = 0;
  Part part_ = Part::begin;
  bool digits_ = false, negative_ = false, negative_exponent_ = false, too_large_ = false, wrong_ = false;
};

/// True if the field is empty, or "-", which stands for a missing value in logs.
template <class Place, class ByteAt>
PENSTOCK_WALKS_THERE constexpr bool is_empty(ByteAt const& byte_at, Place begin, Place end) {
  return begin == end || (end - begin == 1 && byte_at(begin) == '-');
}

/// The reason why a field is not a number of digits with at most 64 bits.
template <class Place, class ByteAt>
PENSTOCK_WALKS_THERE constexpr LineReason why_no_digits(ByteAt const& byte_at, Place begin, Place end) {
  if (is_empty(byte_at, begin, end)) return LineReason::empty;
  Place at = begin;
  auto const skip = [&](char one, char other) {
    if (at == end || (byte_at(at) != one && byte_at(at) != other)) return false;
    ++at;
    return true;
  };
  auto const skip_digits = [&] {
    Place const first = at;
    while (at < end && digit_of(byte_at(at)) <= 9) ++at;
    return at != first;
  };
  bool digits = skip_digits();
  if (at == end) return LineReason::too_large;
  if (!digits && skip('-', '+')) digits = skip_digits();
  if (skip('.', '.')) digits = skip_digits() || digits;
  if (!digits || (skip('e', 'E') && (skip('-', '+'), !skip_digits())) || at != end) return LineReason::text;
  return LineReason::decimal;
}

/// Reads a field that should be a number of digits with at most 64 bits. `value` is valid only if the reason is `used`.
template <class Place, class ByteAt>
PENSTOCK_WALKS_THERE constexpr LineReason digits_in(ByteAt const& byte_at, Place begin, Place end,
                                                    std::uint64_t& value) {
  FieldNumber digits;
  for (Place k = begin; k < end; ++k) digits.take(byte_at(k));
  value = digits.value;
  return digits.good() ? LineReason::used : why_no_digits(byte_at, begin, end);
}

/// Reads a field that should be a decimal number, at once.
template <class Place, class ByteAt>
PENSTOCK_WALKS_THERE constexpr FieldDecimal decimal_in(ByteAt const& byte_at, Place begin, Place end) {
  std::uint32_t value = 0;
  unsigned last = 0;
  bool digits = begin != end && end - begin <= 9;  // Most numbers are few digits and nothing else.
  for (Place k = begin; digits && k < end; ++k) {
    last = digit_of(byte_at(k));
    value = value * 10 + last;
    digits = last <= 9;
  }
  if (digits) return FieldDecimal(value);
  FieldDecimal decimal;
  for (Place k = begin; k < end; ++k) decimal.take(byte_at(k));
  return decimal;
}

}  // namespace penstock
