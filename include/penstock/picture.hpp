// SPDX-License-Identifier: Apache-2.0
// Pictures of levels, as files have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "penstock/error.hpp"
#include "penstock/sinks.hpp"

namespace penstock {

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
