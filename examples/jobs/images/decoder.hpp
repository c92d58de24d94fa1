// SPDX-License-Identifier: Apache-2.0
// How `images` decodes a file into a tile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/images.hpp>
#include <sys/stat.h>
#include <turbojpeg.h>

/// Decodes files one after the other, with the memory of those before.
///
/// Threads: one at a time.
class Decoder {
 public:
  /// Smaller than the file says, by up to 8, if no side gets shorter than `side`; 0: in full size.
  ///
  /// Throws: Error, with the path in front.
  std::size_t decode(std::string const& path, std::uint32_t side, bool square, std::span<std::byte> input) {
    auto const refuse = [&](std::string const& why) {
      throw penstock::Error(penstock::ErrorKind::system, path + ": " + why);
    };
    if (!read(path)) refuse("it cannot be read.");
    int width = 0, height = 0, sampling = 0, colours = 0;
    if (tjDecompressHeader3(decoder_.get(), jpeg_.data(), bytes_, &width, &height, &sampling, &colours) != 0)
      refuse(tjGetErrorStr2(decoder_.get()));
    penstock::ImageHead head;
    for (unsigned part = side != 0 ? 8 : 1; part != 0; part /= 2) {
      head.width = (static_cast<unsigned>(width) + part - 1) / part;
      head.height = (static_cast<unsigned>(height) + part - 1) / part;
      if (std::min(head.width, head.height) >= side) break;
    }
    square ? head.take_square() : head.take_all();
    if (head.bytes() > input.size()) refuse("it needs --tile " + std::to_string(head.bytes()) + " or more.");
    std::memcpy(input.data(), &head, sizeof head);
    auto* const pixels = reinterpret_cast<unsigned char*>(input.data()) + sizeof head;
    if (tjDecompress2(decoder_.get(), jpeg_.data(), bytes_, pixels, static_cast<int>(head.width), 0,
                      static_cast<int>(head.height), TJPF_RGB, TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS) != 0)
      refuse(tjGetErrorStr2(decoder_.get()));
    return head.bytes();
  }

 private:
  bool read(std::string const& path) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::fopen(path.c_str(), "rbe"), std::fclose);
    struct stat found = {};
    if (file == nullptr || fstat(fileno(file.get()), &found) != 0) return false;
    bytes_ = static_cast<std::size_t>(found.st_size);
    if (jpeg_.size() < bytes_) jpeg_.resize(bytes_);
    std::setvbuf(file.get(), nullptr, _IONBF, 0);  // It is read by one call.
    return std::fread(jpeg_.data(), 1, bytes_, file.get()) == bytes_;
  }

  std::unique_ptr<void, int (*)(tjhandle)> const decoder_{tjInitDecompress(), tjDestroy};
  std::vector<unsigned char> jpeg_;
  std::size_t bytes_ = 0;  ///< Of the file that is in it.
};

/// As many decoders as are in use at once.
///
/// Threads: any.
class Decoders {
 public:
  std::size_t decode(std::string const& path, std::uint32_t side, bool square, std::span<std::byte> input) {
    std::unique_ptr<Decoder> decoder = take();
    std::size_t const bytes = decoder->decode(path, side, square, input);
    std::scoped_lock const lock(mutex_);
    idle_.push_back(std::move(decoder));
    return bytes;
  }

 private:
  std::unique_ptr<Decoder> take() {
    {
      std::scoped_lock const lock(mutex_);
      if (!idle_.empty()) {
        auto decoder = std::move(idle_.back());
        idle_.pop_back();
        return decoder;
      }
    }
    return std::make_unique<Decoder>();
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Decoder>> idle_;
};
