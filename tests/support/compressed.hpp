// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "engine/core/shared_library.hpp"
#include "ingest/decoding/compression.hpp"

namespace penstock::support {

/// A library that compresses. Every Debian has it.
class Compressor {
 public:
  explicit Compressor(char const* name) : library_({name}) {
    if (!library_.loaded()) throw std::runtime_error(library_.reasons());
  }
  template <class Function>
  Function* call(char const* name) const {
    Function* function = nullptr;
    library_.find(function, name);
    if (function == nullptr) throw std::runtime_error(std::string("no ") + name);
    return function;
  }

 private:
  SharedLibrary library_;
};

/// True if the libraries that compress and decode this format can be loaded.
inline bool can_compress(Compression compression) {
  char const* const name = compression == Compression::gzip   ? "libz.so.1"
                           : compression == Compression::zstd ? "libzstd.so.1"
                                                              : "liblz4.so.1";
  return SharedLibrary({name}).loaded();
}

/// The lowest `bytes` bytes of the number, the lowest first.
inline std::string little(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (std::size_t k = 0; k < bytes; ++k) text += static_cast<char>(number >> (8 * k));
  return text;
}

/// One member of gzip, with `extra` in its header. The data are stored, or compressed by zlib's fastest level.
inline std::string gzip_member(std::string const& text, std::string const& extra = {}) {
  Compressor const zlib("libz.so.1");
  std::string data(zlib.call<unsigned long(unsigned long)>("compressBound")(text.size()), '\0');
  unsigned long bytes = data.size();
  zlib.call<int(char*, unsigned long*, char const*, unsigned long, int)>("compress2")(data.data(), &bytes, text.data(),
                                                                                      text.size(), 1);
  // zlib's own format has two bytes in front of gzip's data, and four behind.
  data = data.substr(2, bytes - 6);
  auto const checksum = zlib.call<unsigned long(unsigned long, char const*, unsigned)>("crc32")(
      0, text.data(), static_cast<unsigned>(text.size()));
  std::string const head = "\x1f\x8b\x08" + std::string(1, extra.empty() ? '\0' : '\4') + std::string(6, '\0');
  std::string const length = extra.empty() ? "" : little(extra.size(), 2);
  return head + length + extra + data + little(checksum, 4) + little(text.size(), 4);
}

/// One member of gzip that says its own size, as bgzip writes them.
inline std::string bgzf_member(std::string const& text) {
  std::string const before("BC\2\0", 4);
  std::size_t const bytes = gzip_member(text, before + "xx").size();
  return gzip_member(text, before + little(bytes - 1, 2));
}

inline std::string zstd_frame(std::string const& text) {
  Compressor const zstd("libzstd.so.1");
  std::string frame(zstd.call<std::size_t(std::size_t)>("ZSTD_compressBound")(text.size()), '\0');
  frame.resize(zstd.call<std::size_t(char*, std::size_t, char const*, std::size_t, int)>("ZSTD_compress")(
      frame.data(), frame.size(), text.data(), text.size(), 1));
  return frame;
}

/// A frame with blocks of 64 KiB, each by itself unless they are linked, and a checksum.
inline std::string lz4_frame(std::string const& text, bool linked = false, bool more_checks = false) {
  Compressor const lz4("liblz4.so.1");
  // The layout is LZ4F_preferences_t: size of blocks, whether each is by itself, whether there is a checksum; two of
  // them are the length of the text, and the eighth is whether blocks have checksums.
  std::array<std::uint32_t, 14> const preferences{
      4, linked ? 0U : 1U,     1, 0, more_checks ? static_cast<std::uint32_t>(text.size()) : 0, 0,
      0, more_checks ? 1U : 0U};
  std::string frame(
      lz4.call<std::size_t(std::size_t, void const*)>("LZ4F_compressFrameBound")(text.size(), preferences.data()),
      '\0');
  frame.resize(lz4.call<std::size_t(char*, std::size_t, char const*, std::size_t, void const*)>("LZ4F_compressFrame")(
      frame.data(), frame.size(), text.data(), text.size(), preferences.data()));
  return frame;
}

/// One member whose end can be found without decoding it, except for large frames of zstd and lz4.
inline std::string member_of(Compression compression, std::string const& text) {
  if (compression == Compression::gzip) return bgzf_member(text);
  return compression == Compression::zstd ? zstd_frame(text) : lz4_frame(text);
}

/// A frame that decoders of zstd and lz4 skip.
inline std::string skippable_frame(std::string const& bytes) {
  return std::string("\x53\x2a\x4d\x18") + little(bytes.size(), 4) + bytes;
}

/// Lines that differ, and can be compressed to some third.
inline std::string some_lines(std::size_t bytes, std::size_t seed = 0) {
  std::string text;
  for (std::size_t k = seed; text.size() < bytes; ++k)
    text += "line " + std::to_string(k * 7919 % 100003) + " of some\n";
  text.resize(bytes);
  return text;
}

}  // namespace penstock::support
