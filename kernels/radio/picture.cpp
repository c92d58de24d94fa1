// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/core/shared_library.hpp"
#include "penstock/radio.hpp"

namespace penstock {
namespace {

using Colour = std::array<std::uint8_t, 3>;  // Red, green, blue.

/// The functions of the library that are called: those of zlib.h, whose interface has not changed since 1.2. zlib's
/// `unsigned long` has the size of its own size type.
///
/// Source: zlib 1.2.13, zlib.h.
struct ZlibCalls {
  // NOLINTBEGIN(google-runtime-int): zlib's types.
  unsigned long (*compress_bound)(unsigned long bytes) = nullptr;
  int (*compress)(unsigned char* to, unsigned long* to_bytes, unsigned char const* from, unsigned long bytes,
                  int level) = nullptr;
  unsigned long (*crc32)(unsigned long before, unsigned char const* from, unsigned bytes) = nullptr;
  // NOLINTEND(google-runtime-int)
};

ZlibCalls load_zlib() {
  SharedLibrary const library({"libz.so.1"});
  ZlibCalls calls;
  if (library.loaded()) {
    library.find(calls.compress_bound, "compressBound");
    library.find(calls.compress, "compress2");
    library.find(calls.crc32, "crc32");
  }
  if (calls.compress_bound == nullptr || calls.compress == nullptr || calls.crc32 == nullptr) {
    throw Error(ErrorKind::unsupported, "A PNG file needs zlib, and libz.so.1 cannot be loaded (" + library.reasons() +
                                            "): install it (zlib1g on Debian), or name a .ppm file.");
  }
  return calls;
}

/// Black, blue, red, yellow and white in four equal parts.
Colour colour_of(unsigned level) {
  constexpr std::array<Colour, 5> stops{{{0, 0, 0}, {32, 32, 160}, {208, 32, 48}, {248, 208, 32}, {255, 255, 255}}};
  unsigned const part = level * 4 / 255, within = level * 4 % 255;
  Colour colour = stops.at(part);
  for (std::size_t k = 0; within != 0 && k < colour.size(); ++k) {
    colour.at(k) =
        static_cast<std::uint8_t>((stops.at(part).at(k) * (255 - within) + stops.at(part + 1).at(k) * within) / 255);
  }
  return colour;
}

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (unsigned const shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(number >> shift & 0xFFU);
  return bytes;
}
unsigned char const* bytes_of(std::string const& text) {
  return reinterpret_cast<unsigned char const*>(text.data());
}

std::string chunk(ZlibCalls const& zlib, std::string const& type, std::string const& content) {
  std::string const covered = type + content;
  auto const crc = zlib.crc32(0, bytes_of(covered), static_cast<unsigned>(covered.size()));
  return big_endian(static_cast<std::uint32_t>(content.size())) + covered + big_endian(static_cast<std::uint32_t>(crc));
}

std::string png_of(std::uint32_t width, std::uint32_t height, std::span<std::uint8_t const> levels) {
  ZlibCalls const zlib = load_zlib();
  std::string palette, rows;
  for (unsigned level = 0; level < 256; ++level) {
    for (std::uint8_t const part : colour_of(level)) palette += static_cast<char>(part);
  }
  for (std::size_t at = 0; at < levels.size(); at += width) {
    rows += '\0';  // The filter: none.
    rows.append(reinterpret_cast<char const*>(&levels[at]), width);
  }
  auto bytes = zlib.compress_bound(rows.size());
  std::string packed(bytes, '\0');
  if (zlib.compress(reinterpret_cast<unsigned char*>(packed.data()), &bytes, bytes_of(rows), rows.size(), 9) != 0) {
    throw Error(ErrorKind::system, "zlib could not compress a picture: it has no memory left.");
  }
  packed.resize(bytes);
  // 8 bits per pixel, with a palette of colours.
  std::string const head = big_endian(width) + big_endian(height) + std::string("\x08\x03\0\0\0", 5);
  return "\x89PNG\r\n\x1A\n" + chunk(zlib, "IHDR", head) + chunk(zlib, "PLTE", palette) + chunk(zlib, "IDAT", packed) +
         chunk(zlib, "IEND", "");
}

std::string ppm_of(std::size_t width, std::size_t height, std::span<std::uint8_t const> levels) {
  std::string all = "P6\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n";
  for (std::uint8_t const level : levels) {
    for (std::uint8_t const part : colour_of(level)) all += static_cast<char>(part);
  }
  return all;
}

}  // namespace

PictureFormat picture_format_of(std::string_view path) {
  if (path.ends_with(".ppm")) return PictureFormat::ppm;
  if (!path.ends_with(".png")) {
    throw Error(ErrorKind::bad_argument, std::string(path) + " is no name of a picture: end it in .png or .ppm.");
  }
  static_cast<void>(load_zlib());
  return PictureFormat::png;
}

std::string heat_map(PictureFormat format, std::size_t width, std::span<std::uint8_t const> levels) {
  constexpr std::size_t most = 16'384;
  std::size_t const height = width == 0 ? 0 : levels.size() / width;
  if (width > most || height == 0 || height > most || width * height != levels.size()) {
    throw Error(ErrorKind::bad_argument, std::to_string(levels.size()) + " levels are no picture that is " +
                                             std::to_string(width) +
                                             " wide: give whole rows, and 1 to 16384 of each side.");
  }
  if (format == PictureFormat::ppm) return ppm_of(width, height, levels);
  return png_of(static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), levels);
}

PictureFile::PictureFile(std::string const& path)
    : format_(picture_format_of(path)), file_(path, {.keeping = FileKeeping::at_once}) {}

void PictureFile::write(std::size_t width, std::span<std::uint8_t const> levels) {
  file_.append(heat_map(format_, width, levels));
  file_.close();
}

}  // namespace penstock
