// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "kernels/kernels_on_device.hpp"
#include "penstock/error.hpp"
#include "penstock/radio.hpp"

namespace penstock {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Samples = std::vector<unsigned char>;  // Each has two bytes.

/// The CRC by division, a bit at a time.
std::uint32_t crc_of(Bytes const& bytes) {
  std::uint64_t rest = 0;
  auto const divide = [&](unsigned bit) { rest = (rest << 1U | bit) ^ ((rest >> 23U & 1U) != 0 ? 0x1FFF409U : 0U); };
  for (std::uint8_t const byte : bytes) {
    for (unsigned k = 8; k-- > 0;) divide(byte >> k & 1U);
  }
  for (int k = 0; k < 24; ++k) divide(0);
  return static_cast<std::uint32_t>(rest);
}
Bytes with_parity(Bytes bytes, std::uint32_t beside) {
  std::uint32_t const parity = crc_of(bytes) ^ beside;
  for (unsigned const shift : {16U, 8U, 0U}) bytes.push_back(static_cast<std::uint8_t>(parity >> shift));
  return bytes;
}
/// A frame of this format with random contents.
Bytes some_frame(unsigned format, std::uint32_t beside, std::mt19937& random) {
  Bytes bytes(format < 16 ? 4 : 11);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
  bytes[0] = static_cast<std::uint8_t>(format << 3U | bytes[0] % 8U);
  return with_parity(bytes, beside);
}
/// A frame of format 21 that can be told from samples beside it: it has no three bits that are alike side by side.
Bytes even_frame(std::mt19937& random) {
  Bytes bytes(14, 0xAA);
  for (std::size_t k = 1; k < bytes.size(); ++k) bytes[k] = random() % 2 == 0 ? 0xAA : 0xA5;
  return bytes;
}
Samples noise(std::size_t samples, unsigned level, std::mt19937& random) {
  Samples all(2 * samples);
  for (auto& byte : all) byte = static_cast<unsigned char>(128 - level / 2 + random() % level);
  return all;
}
/// Levels that a pulse adds to the samples around its own, from the one in front of it on.
using Pulse = std::array<double, 4>;
constexpr Pulse on_a_sample{0, 1, 0, 0};
/// A pulse that makes those beside it less, as a receiver's filter does.
constexpr Pulse between_samples{-0.15, 0.6, 0.6, -0.15};
/// A pulse that begins so much later than its sample.
constexpr Pulse late_by(double part) {
  return {0, 1 - part, part, 0};
}

/// Puts a frame there, with a carrier of another phase each time.
void send(Bytes const& frame, std::size_t at, Pulse const& shape, Samples& samples, std::mt19937& random) {
  double const phase = static_cast<double>(random() % 628) / 100;
  std::vector<double> level(mode_s_long_samples + 4);  // The first is that in front of the frame.
  auto const pulse = [&](std::size_t k) {
    for (std::size_t j = 0; j < shape.size(); ++j) level[k + j] += shape[j];
  };
  for (unsigned const k : {0U, 2U, 7U, 9U}) pulse(k);
  for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
    pulse(16 + 2 * bit + ((frame[bit / 8] >> (7 - bit % 8) & 1) != 0 ? 0 : 1));
  }
  for (std::size_t k = 1; k < level.size() && 2 * (at + k - 1) + 1 < samples.size(); ++k) {
    auto const add = [&](unsigned char& byte, double part) {
      byte = static_cast<unsigned char>(std::clamp(byte + static_cast<int>(100 * level[k] * part), 0, 255));
    };
    add(samples[2 * (at + k - 1)], std::cos(phase));
    add(samples[2 * (at + k - 1) + 1], std::sin(phase));
  }
}
std::string text_of(std::size_t begin, Bytes const& bytes) {
  std::string text = std::to_string(begin);
  for (unsigned const byte : bytes) text += " " + std::to_string(byte);
  return text;
}

/// Returns what the device finds, in order.
std::vector<std::string> found_in(KernelsOn& on, Samples const& samples, std::size_t from = 0,
                                  unsigned multiprocessors = 0) {
  std::size_t const count = mode_s_blocks(samples.size());
  auto const there = on.memory(samples.size() + from + 1);
  if (!samples.empty()) on.upload(there.subspan(from).first(samples.size()), std::as_bytes(std::span(samples)));
  auto const found = on.memory(std::max<std::size_t>(1, count) * sizeof(ModeSBlock));
  find_mode_s_prepare(on.stream());
  find_mode_s(DeviceSpan<std::byte>(there).subspan(from, samples.size()), DeviceSpan<std::byte>(found).as<ModeSBlock>(),
              on.stream(), multiprocessors);
  std::vector<ModeSBlock> blocks(count);
  if (count != 0) on.download(std::as_writable_bytes(std::span(blocks)), found.first(count * sizeof(ModeSBlock)));
  std::vector<std::string> all;
  for (ModeSBlock& block : blocks) {
    EXPECT_LE(block.found, mode_s_block_frames);
    std::vector<ModeSFrame> frames(block.kept().begin(), block.kept().end());
    std::ranges::sort(frames, {}, &ModeSFrame::begin);
    for (ModeSFrame const& frame : frames) {
      EXPECT_EQ(frame.sample / mode_s_block_samples, static_cast<std::size_t>(&block - blocks.data()));
      all.push_back(text_of(frame.begin(), {frame.bytes.begin(), frame.bytes.begin() + frame.length}));
      EXPECT_TRUE(std::all_of(frame.bytes.begin() + frame.length, frame.bytes.end(), [](auto b) { return b == 0; }));
    }
  }
  return all;
}

/// Ways in which the bits of a frame are told from its samples.
enum class Reading { plain, late, early };

/// Returns the bytes of a frame of so many bits.
Bytes bytes_by(Reading reading, long const* s, std::size_t bits) {
  std::vector<int> bit(bits);
  for (std::size_t j = 0; j < bits; ++j) {
    std::size_t const k = reading == Reading::early ? bits - 1 - j : j;
    long const first = s[16 + 2 * k], second = s[17 + 2 * k];
    int const beside =
        j == 0 ? (reading == Reading::late ? 1 : 0) : bit[reading == Reading::late ? k - 1 : (k + 1) % bits];
    bit[k] = reading == Reading::plain ? first > second : beside == 1 ? 2 * first > second : first > 2 * second;
  }
  Bytes bytes(bits / 8);
  for (std::size_t k = 0; k < bits; ++k) {
    bytes[k / 8] = static_cast<std::uint8_t>(bytes[k / 8] * 2 + bit[k]);
  }
  return bytes;
}
std::uint32_t rest_of(Bytes const& bytes) {
  std::uint32_t const sent =
      std::uint32_t{bytes.end()[-3]} << 16U | std::uint32_t{bytes.end()[-2]} << 8U | bytes.end()[-1];
  return crc_of({bytes.begin(), bytes.end() - 3}) ^ sent;
}
/// A frame that begins with a preamble at `s`, with so many samples behind it; nothing if there is none.
Bytes frame_at(long const* s, std::size_t samples) {
  bool const clear =
      std::min({s[0], s[2], s[7], s[9]}) > std::max({s[1], s[3], s[4], s[5], s[6], s[8], s[11], s[12], s[13], s[14]});
  for (Reading const reading : {Reading::plain, Reading::late, Reading::early}) {
    for (std::size_t const bits : {112U, 56U}) {
      if (16 + 2 * bits > samples) continue;
      Bytes const bytes = bytes_by(reading, s, bits);
      unsigned const format = bytes[0] >> 3U;
      bool const is_short = format == 0 || format == 4 || format == 5 || format == 11;
      bool const is_long = format == 16 || format == 17 || format == 18 || format == 20 || format == 21;
      if (bits == 112 ? !is_long : !is_short) continue;
      std::uint32_t const rest = rest_of(bytes);
      bool const checked = rest == 0 && (format == 11 || format == 17 || format == 18);
      bool const likely = clear && (format == 11 ? rest < 80 : format != 17 && format != 18);
      if (checked || (likely && reading == Reading::plain)) return bytes;
    }
  }
  return {};
}
/// Finds the same by plain code, as the header says it: in samples, or in what is between them.
void expect_in(Samples const& samples, bool between, std::map<std::size_t, std::string>& all) {
  std::vector<long> p;
  for (std::size_t k = 0; k + 1 < samples.size(); k += 2) {
    long const i = 2 * samples[k] - 255, q = 2 * samples[k + 1] - 255;
    p.push_back(i * i + q * q - 2);
  }
  for (std::size_t at = 0; at + mode_s_short_samples <= p.size(); ++at) {
    long const* const s = p.data() + at;
    long const pulses = s[0] + s[2] + s[7] + s[9];
    if (s[3] + s[4] + s[5] + s[6] + s[11] + s[12] + s[13] + s[14] >= pulses) continue;
    if (s[0] <= s[1] || s[2] <= s[1] || s[2] <= s[3] || s[7] <= s[6] || s[7] <= s[8] || s[9] <= s[8]) continue;
    Bytes const bytes = frame_at(s, p.size() - at);
    if (!bytes.empty()) all[2 * at + (between ? 1 : 0)] = text_of(2 * at + (between ? 1 : 0), bytes);
  }
}
std::vector<std::string> expected(Samples const& samples) {
  std::map<std::size_t, std::string> found;
  expect_in(samples, false, found);
  Samples between;
  for (std::size_t k = 0; k + 3 < samples.size() / 2 * 2; k += 2) {
    between.push_back(static_cast<unsigned char>((samples[k] + samples[k + 2] + 1) / 2));
    between.push_back(static_cast<unsigned char>((samples[k + 1] + samples[k + 3] + 1) / 2));
  }
  expect_in(between, true, found);
  std::vector<std::string> all;
  for (auto const& [begin, text] : found) all.push_back(text);
  return all;
}

TEST_P(KernelsOn, FindModeSFramesWhereverTheyBegin) {
  std::mt19937 random(7);
  constexpr unsigned formats[] = {17, 11, 18, 4, 20, 0, 5, 16, 21};
  Samples samples = noise(5 * mode_s_block_samples, 4, random);
  std::vector<std::string> sent;
  std::size_t at = 3;
  for (std::size_t k = 0; at + mode_s_long_samples < samples.size() / 2; ++k) {
    unsigned const format = formats[k % 9];
    std::uint32_t const interrogator = static_cast<std::uint32_t>(k % 3), address = 0x4D2023;
    bool const between = k / 9 % 2 != 0;
    Bytes const frame = between ? even_frame(random)
                                : some_frame(format,
                                             format == 11 ? interrogator
                                             : k % 9 < 3  ? 0
                                                          : address,
                                             random);
    std::size_t const begin = 2 * at + (between ? 1 : 0);
    send(frame, at, between ? between_samples : on_a_sample, samples, random);
    sent.push_back(text_of(begin, frame));
    at += mode_s_long_samples + 1 + k % 29;
    // Also across the border of two blocks, and at its very side.
    std::size_t const border = (at / mode_s_block_samples + 1) * mode_s_block_samples;
    if (border - at < 2 * mode_s_long_samples) at = border - (border / mode_s_block_samples * 80) % 241;
  }
  auto const found = found_in(*this, samples);
  EXPECT_THAT(found, testing::IsSupersetOf(sent));
  EXPECT_EQ(found, expected(samples));
  EXPECT_EQ(found_in(*this, samples, 3, 1), found) << "from an address that is odd, by few blocks";
}

TEST_P(KernelsOn, FindModeSFramesThatBeginOffTheSamples) {
  std::mt19937 random(17);
  for (double const part : {0.3, 0.4, 0.45, 0.55, 0.6, 0.7}) {
    Samples samples = noise(8 * mode_s_block_samples, 4, random);
    std::vector<Bytes> sent;
    for (std::size_t at = 7; at + 300 < samples.size() / 2; at += 277) {
      sent.push_back(some_frame(sent.size() % 2 == 0 ? 17 : 11, 0, random));
      send(sent.back(), at, late_by(part), samples, random);
    }
    auto const found = found_in(*this, samples);
    EXPECT_EQ(found, expected(samples)) << part;
    std::size_t heard = 0;
    for (Bytes const& frame : sent) {
      std::string const bytes = text_of(0, frame).substr(1);
      heard += std::ranges::any_of(found, [&](std::string const& one) { return one.ends_with(bytes); }) ? 1U : 0U;
    }
    EXPECT_GE(heard, sent.size() * 9 / 10) << part << " of a sample";
  }
}

TEST_P(KernelsOn, FindTheSameInAnyBytes) {
  std::mt19937 random(8);
  for (unsigned const level : {2U, 7U, 255U}) {
    Samples const samples = noise(30 * mode_s_block_samples + 77, level, random);
    auto const wanted = expected(samples);
    EXPECT_GE(wanted.size(), level == 2 ? 0U : 8U);
    EXPECT_EQ(found_in(*this, samples), wanted);
  }
}

TEST_P(KernelsOn, FindModeSFramesThatEndWithTheInput) {
  std::mt19937 random(9);
  for (unsigned const format : {11U, 17U}) {
    std::size_t const length = format == 11 ? mode_s_short_samples : mode_s_long_samples;
    for (std::size_t const before : {std::size_t{0}, std::size_t{1}, mode_s_block_samples - 1, mode_s_block_samples}) {
      Samples samples = noise(before + length, 2, random);
      Bytes const frame = some_frame(format, 0, random);
      send(frame, before, on_a_sample, samples, random);
      EXPECT_THAT(found_in(*this, samples), testing::Contains(text_of(2 * before, frame)));
      samples.pop_back();
      EXPECT_THAT(found_in(*this, samples), testing::Not(testing::Contains(text_of(2 * before, frame))));
      EXPECT_EQ(found_in(*this, samples), expected(samples));
    }
  }
  for (std::size_t const bytes : {0U, 1U, 2U, 31U, 255U})
    EXPECT_THAT(found_in(*this, Samples(bytes)), testing::IsEmpty());
}

TEST_P(KernelsOn, CountModeSFramesThatDoNotFit) {
  // A preamble with nothing behind it reads as format 0, and the next one may begin in the 26th sample.
  Samples samples(2 * mode_s_block_samples, 128);
  std::size_t sent = 0;
  for (std::size_t at = 0; at + mode_s_short_samples <= mode_s_block_samples; at += 26, ++sent) {
    for (unsigned const k : {0U, 2U, 7U, 9U}) samples[2 * (at + k)] = 255;
  }
  auto const there = memory(samples.size()), found = memory(sizeof(ModeSBlock));
  upload(there, std::as_bytes(std::span(samples)));
  find_mode_s(DeviceSpan<std::byte>(there), DeviceSpan<std::byte>(found).as<ModeSBlock>(), stream());
  std::vector<ModeSBlock> block(1);
  download(std::as_writable_bytes(std::span(block)), found);
  EXPECT_GE(block[0].found, sent);
  EXPECT_EQ(block[0].kept().size(), mode_s_block_frames);
}

TEST_P(KernelsOn, RefuseToFindModeSFramesWithoutRoomForThem) {
  auto const there = memory(4 * mode_s_block_samples), found = memory(sizeof(ModeSBlock));
  EXPECT_THROW(find_mode_s(DeviceSpan<std::byte>(there), DeviceSpan<std::byte>(found).as<ModeSBlock>(), stream()),
               Error);
}

}  // namespace
}  // namespace penstock
