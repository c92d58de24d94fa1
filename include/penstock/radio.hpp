// SPDX-License-Identifier: Apache-2.0
// Samples of radio: replies of aircraft (Mode S) as frames of bytes, spectra on a device, a waterfall of bounded size,
// and pictures of levels, as files have them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/egress/sinks.hpp"
#include "penstock/error.hpp"
#include "penstock/stream.hpp"

namespace penstock {

/// Samples of a whole reply at 2 Msps: 8 us of preamble, then 56 or 112 us. A sample is two bytes, I and Q.
inline constexpr std::size_t mode_s_short_samples = 128;
inline constexpr std::size_t mode_s_long_samples = 240;

/// A frame: the same on host and GPU.
struct ModeSFrame {
  std::uint32_t sample = 0;                 ///< Sample of the input at which the preamble begins.
  std::array<std::uint8_t, 14> bytes = {};  ///< Bytes as sent, the first bit the most significant.
  std::uint8_t length = 0;                  ///< Length in bytes: 7 or 14.
  std::uint8_t between = 0;                 ///< 1: it begins half a sample later.

  /// Beginning of the frame, in halves of a sample.
  std::uint64_t begin() const noexcept { return 2 * std::uint64_t{sample} + between; }
  /// DF, the kind of the frame.
  unsigned format() const noexcept { return bytes[0] >> 3U; }
  /// AA, the address in a frame of the formats 11, 17 and 18.
  std::uint32_t address() const noexcept {
    return std::uint32_t{bytes[1]} << 16U | std::uint32_t{bytes[2]} << 8U | bytes[3];
  }
  /// Difference between the parity at the end of the frame and the CRC of the bytes before it: 0; or the interrogator's
  /// code in format 11; or the aircraft's address in formats 0, 4, 5, 16, 20, 21.
  ///
  /// Source: ICAO Annex 10, volume IV, 3.1.2.3.3: the generator is 0x1FFF409.
  std::uint32_t remainder() const noexcept;

  friend bool operator==(ModeSFrame const&, ModeSFrame const&) = default;
};

/// Number of samples of a block, and maximum number of frames kept for it.
inline constexpr std::size_t mode_s_block_samples = 8192;
inline constexpr std::size_t mode_s_block_frames = 51;

/// The frames whose preambles begin in a block's samples.
struct ModeSBlock {
  std::uint32_t found = 0;  ///< Number found; the frames beyond mode_s_block_frames are lost.
  std::array<ModeSFrame, mode_s_block_frames> frames;

  /// The frames that are kept, in no order.
  std::span<ModeSFrame const> kept() const noexcept {
    return std::span(frames).first(std::min<std::size_t>(found, mode_s_block_frames));
  }
};
static_assert(sizeof(ModeSFrame) == 20 && sizeof(ModeSBlock) == 1024);

/// Number of blocks of an input of this size.
constexpr std::size_t mode_s_blocks(std::size_t bytes) noexcept {
  return (bytes / 2 + mode_s_block_samples - 1) / mode_s_block_samples;
}

/// Decides which of the frames that were found in an input were sent, and writes a line for each, in their order:
/// `*8D4840D6202CC371C32CE0576098;`.
///
/// - DF17, DF18 and DF11 with a remainder of 0 were sent. The aircraft of a DF11 or DF17 is then known for 60 s of
///   samples.
/// - DF11 with an interrogator's code was sent if its aircraft is known, and DF0, 4, 5, 16, 20 and 21 if their
///   remainder is the address of an aircraft that is known.
/// - A frame that begins within one that was sent was not sent. A frame that was found twice, half a sample apart,
///   counts once.
///
/// Threads: one at a time.
class ModeSReceiver {
 public:
  /// `overlap` is the number of samples that consecutive tiles of the input share. With `offsets` the number of the
  /// frame's first sample precedes each line.
  explicit ModeSReceiver(std::uint64_t overlap, bool offsets = false);
  ModeSReceiver(ModeSReceiver&&) noexcept;
  ModeSReceiver& operator=(ModeSReceiver&&) noexcept;
  ~ModeSReceiver();

  /// Takes the frames found in the next tile, which has this number of samples, including the overlap with the tile
  /// before. A tile that failed has no blocks.
  void take(std::uint64_t samples, std::span<ModeSBlock const> blocks);
  /// Ends the input: frames that begin in the last samples are taken, too.
  void finish();

  /// The lines of all frames that were sent, except those already taken.
  std::string const& lines() const noexcept;
  /// Takes these lines out: they are final, and no memory is kept for them.
  std::string take_lines() noexcept;
  /// Number of frames lost so far, where too many began close together.
  std::uint64_t lost() const noexcept;
  /// Number of frames by format, of aircraft, and of frames lost where too many began close together. Each line begins
  /// with `#`.
  std::string summary() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

/// Finds the frames in `input`, and writes those that begin in each block of its samples to `blocks`. All arithmetic is
/// on integers, so each device finds the same frames. The order of a block's frames is undefined, and so is the choice
/// of the frames beyond mode_s_block_frames that are lost.
///
/// - Frames are searched for in the samples, and in interpolated ones between each two of them, which are the mean of I
///   and of Q, rounded up. A frame may thus be found twice, half a sample apart.
/// - The power of a sample is (2I - 255)^2 + (2Q - 255)^2 - 2: that of silence is 0.
/// - A preamble has pulses in samples 0, 2, 7 and 9: each has more power than those of its neighbours that are between
///   pulses or next to them (1, 3, 6, 8), and together they have more than the samples 3 to 6 and 11 to 14 together. It
///   is clear if the weakest pulse has more than each of the samples 1, 3 to 6, 8 and 11 to 14.
/// - A bit is 1 if the first of its two samples has more power than the second, else 0.
/// - If that gives no frame, the pulses may lie between samples, so that the adjacent sample has a part of each. A late
///   frame is read forwards, and an early one backwards. Behind a 1, or in front of a 1 respectively, a bit is 1 if the
///   first of its two samples has more than half of the power of the second; otherwise if it has more than double of
///   it. The first bit of a late frame is read as behind a 1, and the last bit of an early one as in front of a 0. Only
///   frames of the formats 17, 18 and 11 with a remainder of 0 are found in this way. No bit is corrected.
/// - A frame of the formats 17 and 18, or 11 without an interrogator, is valid if its remainder is 0. A frame of the
///   formats 0, 4, 5, 16, 20, 21, or 11 with an interrogator (a remainder below 80), is valid if its preamble is clear:
///   the caller must check whether the remainder is a known address, or an interrogator's code.
///
/// A frame that does not end within the input is not found; an odd byte at the end is ignored.
///
/// Shape:   memory of the stream's device, or mapped; `blocks` has mode_s_blocks(input.size()) elements or more, from
///          an address that is a multiple of 4, and these many are written to. An input has less than 8 GiB.
/// Threads: any.
/// Blocks:  never; `blocks` is valid once `stream` has passed this call.
/// Throws:  Error, if `blocks` is too short or the launch is refused. On the CPU device a launch may allocate.
void find_mode_s(DeviceSpan<std::byte const> input, DeviceSpan<ModeSBlock> blocks, StreamRef stream,
                 unsigned multiprocessors = 0);

/// Loads the kernel, as blake3_prepare does.
void find_mode_s_prepare(StreamRef stream);

/// Parameters of spectra. A sample is two bytes, I and Q.
struct SpectrumForm {
  std::uint32_t points = 512;     ///< Samples of a transform, and values of a spectrum: 256, 512 or 1024.
  std::uint32_t transforms = 32;  ///< Number of transforms whose powers are summed to one spectrum. The last spectrum
                                  /// of an input may have fewer.

  constexpr std::size_t transforms_of(std::size_t samples) const noexcept { return samples / points; }
  constexpr std::size_t spectra_of(std::size_t samples) const noexcept {
    return (transforms_of(samples) + transforms - 1) / transforms;
  }
  /// Number of samples of a tile to use, so that none between two tiles is left out, if its last `overlap` samples are
  /// in the next tile as well. It is a multiple of a transform.
  constexpr std::size_t samples_of_tile(std::size_t samples, std::size_t overlap) const noexcept {
    std::size_t const own = samples - std::min(samples, overlap);
    return std::min((own + points - 1) / points, samples / points) * points;
  }
};

/// Consecutive spectra in time, as rows of a picture. When there would be more than `most_rows`, pairs of rows are
/// merged, and each row stands for twice the time from then on. A day of samples thus needs no more memory, and has no
/// larger picture, than a second.
///
/// Threads: one at a time.
class Waterfall {
 public:
  /// Shape: `most_rows` is even, and 2 or more.
  explicit Waterfall(SpectrumForm form = {}, std::size_t most_rows = 1024);

  /// Adds spectra of `samples` samples, computed by sum_spectra, behind all that were added before.
  void add(std::span<float const> spectra, std::size_t samples);

  std::size_t rows() const noexcept { return rows_.size() / form_.points + (pending_ == 0 ? 0 : 1); }
  /// The rows as levels, row by row, the earliest first and in each the lowest frequency first: 0 for the least power,
  /// 255 for the most. Levels are equal steps in decibels, over at least 10 dB; the weakest hundredth of all values is
  /// 0.
  std::vector<std::uint8_t> levels() const;

 private:
  void end_row();

  SpectrumForm form_;
  std::size_t most_rows_;
  std::uint64_t row_transforms_;  ///< Number of transforms of a row.
  std::uint64_t row_end_;         ///< Number of transforms at which the incomplete row ends.
  std::uint64_t transforms_ = 0;  ///< Number of all transforms added.
  std::uint64_t pending_ = 0;     ///< Number of transforms in the incomplete row, whose powers are in `sums_`.
  std::vector<double> sums_;
  std::vector<float> rows_;  ///< Means of power.
};

/// Transforms consecutive samples of `input`, and writes the sums of their powers by frequency to `spectra`: first
/// those of the first form.transforms transforms, and so on. Samples at the end that are no whole transform are left
/// out.
///
/// A sample is ((2I - 255) + j(2Q - 255)) / 255, times a Hann window. A carrier of the greatest amplitude, at the
/// frequency of a value, has a power of 1 there in each transform. Value k is of the frequency (k / points - 1/2) times
/// the rate of the samples, so the middle of the spectrum is the frequency that was received. Values are within 1e-5 of
/// the exact ones, times the power of the whole spectrum; they are not the same on each device.
///
/// Shape:   memory of the stream's device, or mapped; `spectra` has form.spectra_of(samples) * form.points elements or
///          more, of which these many are written to. An input has less than 2^31 transforms.
/// Threads: any.
/// Blocks:  never; `spectra` is valid once `stream` has passed this call.
/// Throws:  Error, if `spectra` is too short, the form is none of the above or the launch is refused. On the CPU device
///          a launch allocates.
/// Source:  Welch, IEEE Trans. Audio Electroacoust. 15(2), 1967, without overlap; the transforms are those of Gentleman
///          and Sande, AFIPS Fall Joint Computer Conference, 1966.
void sum_spectra(DeviceSpan<std::byte const> input, DeviceSpan<float> spectra, SpectrumForm const& form,
                 StreamRef stream, unsigned multiprocessors = 0);

/// Loads the kernels, as blake3_prepare does.
void sum_spectra_prepare(StreamRef stream);

/// File formats of pictures. PNG needs zlib, which is loaded on first use; PPM needs nothing.
enum class PictureFormat : std::uint8_t { png, ppm };

/// The format for a file name's extension, `.png` or `.ppm`.
///
/// Threads: any.
/// Throws: Error of kind bad_argument, if the name ends otherwise; of kind unsupported, if the format is PNG, and zlib
///         cannot be loaded.
PictureFormat picture_format_of(std::string_view path);

/// Returns a picture of these levels as the content of a file of this format. Levels are row by row from the top, each
/// row from the left: 0 is black, then blue, red and yellow, and 255 is white.
///
/// Shape:   levels.size() is a multiple of `width`, and each side is 1 to 16384.
/// Threads: any, several at once.
/// Throws:  Error of kind bad_argument, if a side is not valid; of kind unsupported, if zlib is needed and cannot be
///          loaded.
/// Source:  PNG specification, third edition, W3C 2025: an indexed image of 8 bits.
std::string heat_map(PictureFormat format, std::size_t width, std::span<std::uint8_t const> levels);

/// A file that a picture replaces in one step. Until then, or if nothing is written, the file keeps its content.
///
/// Threads: one at a time.
class PictureFile {
 public:
  /// The extension of the name determines the format.
  ///
  /// Throws: as picture_format_of; Error of kind bad_argument, if such a file cannot be written.
  explicit PictureFile(std::string const& path);
  /// Writes a heat map of these levels. It must be called only once.
  ///
  /// Blocks: until all is on the disk.
  /// Throws: as heat_map; Error of kind system, if not all could be written.
  void write(std::size_t width, std::span<std::uint8_t const> levels);

 private:
  PictureFormat format_;
  FileSink file_;
};

}  // namespace penstock
