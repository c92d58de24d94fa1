// SPDX-License-Identifier: Apache-2.0
// JPEG files as images for a device. This component is there where libjpeg is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/images.hpp"

namespace penstock {

/// A file that is an image, or the bytes of one within a file, as in an archive.
struct EncodedImage {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  ///< 0: all that follows.
};

/// How an image is decoded.
struct JpegDecoding {
  /// It is decoded smaller than it is, by up to 8, as long as its part stays as wide and high as this; 0: in full size.
  ///
  /// Units: pixels.
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool square = true;     ///< The part is the square in the middle, and no other pixels are kept; else the whole image.
  bool oriented = true;   ///< The image is turned as EXIF says that the camera was held.
  bool mirrored = false;  ///< Then left and right change places.
  bool fitting = false;   ///< One that has no room is made smaller, by powers of 2, until it has.
  /// Chooses the part instead, in the image of this width and height, which is turned and mirrored. A part that is
  /// decoded smaller may have a pixel more at each side.
  std::function<void(ImageHead&)> choose = {};
};

/// An image that has no room in its place.
class ImageTooLarge : public Error {
 public:
  explicit ImageTooLarge(std::uint64_t bytes)
      : Error(ErrorKind::bad_argument, "it needs " + std::to_string(bytes) + " bytes of a tile"), bytes_(bytes) {}
  /// Size of its header and pixels.
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::uint64_t bytes_;
};

/// Decodes images one after the other, and reuses the memory. Grey ones and those of four inks become RGB, without a
/// colour profile.
///
/// Threads: one at a time.
class JpegDecoder {
 public:
  JpegDecoder();
  JpegDecoder(JpegDecoder&& other) noexcept;
  JpegDecoder& operator=(JpegDecoder&& other) noexcept;
  ~JpegDecoder();

  /// Reads an image and writes it as `resize_images` takes it, an ImageHead with pixels, to `place`.
  ///
  /// Returns: the bytes of header and pixels.
  /// Blocks:  while it reads.
  /// Throws:  ImageTooLarge; Error of kind system, if it cannot be read, is no JPEG file, is damaged or ends early.
  ///          Their sentences are to be read behind the file's name.
  std::size_t decode(EncodedImage const& image, JpegDecoding const& how, std::span<std::byte> place);
  /// The oddity of the last image, which was decoded all the same; empty if there is none.
  std::string take_warning();

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Makes a JPEG file of pixels, with colours as fine as the brightness.
///
/// Shape:  pixels are rows of `width` without padding, three bytes each: red, green, blue.
/// Units:  quality 0 to 100.
/// Throws: Error of kind system with libjpeg's sentence, if it refuses.
std::vector<std::byte> encode_jpeg(std::span<unsigned char const> pixels, std::uint32_t width, int quality = 90);

}  // namespace penstock
