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

/// The file formats of pictures. PNG needs zlib, which is loaded when it is wanted; PPM needs nothing.
enum class PictureFormat : std::uint8_t { png, ppm };

/// The format that the ending of a file's name says, `.png` or `.ppm`.
///
/// Threads: any.
/// Throws: Error of kind bad_argument, if the name ends otherwise; of kind unsupported, if the format is PNG, and zlib
///         cannot be loaded.
PictureFormat picture_format_of(std::string_view path);

/// A picture of these levels, row by row from its top, each from the left: 0 is black, then blue, red and yellow, and
/// 255 is white. It is the content of a file of this format.
///
/// Shape:   levels.size() is a multiple of `width`, and each side is 1 to 16384.
/// Threads: any, several at once.
/// Throws:  Error of kind bad_argument, if the sides are not so; of kind unsupported, if zlib is needed and cannot be
///          loaded.
/// Source:  PNG specification, third edition, W3C 2025: an indexed image of 8 bits.
std::string heat_map(PictureFormat format, std::size_t width, std::span<std::uint8_t const> levels);

/// A file that a picture takes the place of at once. Until it is written, and if it is not, the file is as it was.
///
/// Threads: one at a time.
class PictureFile {
 public:
  /// The ending of the name says the format.
  ///
  /// Throws: as picture_format_of; Error of kind bad_argument, if such a file cannot be written.
  explicit PictureFile(std::string const& path);
  /// Writes a heat map of these levels. It is called once.
  ///
  /// Blocks: until all is on the disk.
  /// Throws: as heat_map; Error of kind system, if not all could be written.
  void write(std::size_t width, std::span<std::uint8_t const> levels);

 private:
  PictureFormat format_;
  FileSink file_;
};

}  // namespace penstock
