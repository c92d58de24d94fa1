// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace penstock::support {

/// Makes captures of packets with chosen bytes.
class MadeCapture {
 public:
  enum class Format { pcap, pcapng };
  struct Packet {
    std::string bytes;
    std::uint64_t nanoseconds = 0;
    std::uint32_t original = 0;  ///< 0: the number of bytes in `bytes`, at least one.
  };

  MadeCapture(Format format, bool swapped, bool nanoseconds, std::uint32_t link = 1)
      : format_(format), swapped_(swapped), nanoseconds_(nanoseconds) {
    if (format == Format::pcap) {
      text = word(nanoseconds ? 0xA1B23C4D : 0xA1B2C3D4) + half(2) + half(4) + word(0) + word(0) + word(65535) +
             word(link);
      return;
    }
    text = block(0x0A0D0D0A, word(0x1A2B3C4D) + half(1) + half(0) + std::string(8, '\xFF'));
    std::string const unit = nanoseconds ? half(9) + half(1) + std::string("\x09\0\0\0", 4) + word(0) : "";
    text += block(1, half(static_cast<std::uint16_t>(link)) + half(0) + word(65535) + unit);
  }

  /// Returns the packet's record.
  std::string add(Packet const& packet) {
    auto const captured = static_cast<std::uint32_t>(packet.bytes.size());
    std::uint32_t const original = packet.original != 0 ? packet.original : std::max(1U, captured);
    std::uint64_t const units = packet.nanoseconds / (nanoseconds_ ? 1 : 1000);
    std::uint64_t const second = nanoseconds_ ? 1'000'000'000 : 1'000'000;
    std::string record;
    if (format_ == Format::pcap) {
      record = word(static_cast<std::uint32_t>(units / second)) + word(static_cast<std::uint32_t>(units % second)) +
               word(captured) + word(original) + packet.bytes;
    } else {
      record = block(6, word(0) + word(static_cast<std::uint32_t>(units >> 32U)) +
                            word(static_cast<std::uint32_t>(units)) + word(captured) + word(original) + packet.bytes);
    }
    text += record;
    return record;
  }
  /// A block of a pcapng file, padded, with its length on both sides.
  std::string block(std::uint32_t type, std::string body) const {
    body.resize((body.size() + 3) / 4 * 4);
    std::string const length = word(static_cast<std::uint32_t>(body.size() + 12));
    return word(type) + length + body + length;
  }
  std::string word(std::uint32_t value) const { return number(value, 4); }
  std::string half(std::uint16_t value) const { return number(value, 2); }

  std::string text;

 private:
  std::string number(std::uint32_t value, int bytes) const {
    std::string made;
    for (int k = 0; k < bytes; ++k) made += static_cast<char>(value >> 8 * (swapped_ ? bytes - 1 - k : k));
    return made;
  }

  Format const format_;
  bool const swapped_, nanoseconds_;
};

/// Returns at most `most` random bytes, seldom none.
inline std::string some_bytes(std::mt19937& random, std::size_t most) {
  std::string bytes(random() % (most + 1), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() % 4 == 0 ? 0 : random());
  return bytes;
}

}  // namespace penstock::support
