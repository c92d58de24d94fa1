// SPDX-License-Identifier: Apache-2.0
// Decodes files of `images` into tiles, by several producers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/images/jpeg_decoder.hpp>
#include <penstock/ingest/files.hpp>

/// Holds as many decoders as are in use at once, and notes what is odd about files that they decoded.
///
/// Threads: any.
class Decoders {
 public:
  /// Throws: Error, with the path in front, as `name_in_line` prints it.
  std::size_t decode(std::string const& path, penstock::JpegDecoding const& how, std::span<std::byte> input) {
    auto const refusal = [&](penstock::Error const& error, std::string const& why) {
      return penstock::Error(error.kind(), penstock::name_in_line(path) + ": " + why);
    };
    std::unique_ptr<penstock::JpegDecoder> decoder = take();
    std::size_t bytes = 0;
    try {
      bytes = decoder->decode({.path = path}, how, input);
    } catch (penstock::ImageTooLarge const& large) {
      throw refusal(large, "it needs --tile " + std::to_string(whole_pages(large.bytes())) + " or more.");
    } catch (penstock::Error const& error) {
      throw refusal(error, error.what());
    }
    std::string const warning = decoder->take_warning();
    std::scoped_lock const lock(mutex_);
    if (!warning.empty())
      warnings_.push_back(penstock::name_in_line(path) + " is decoded, but it is odd: " + warning + ".");
    idle_.push_back(std::move(decoder));
    return bytes;
  }
  /// A sentence for each odd file, in the order of their names; only the first ones if there are many.
  std::vector<std::string> warnings() {
    constexpr std::size_t most = 20;
    std::scoped_lock const lock(mutex_);
    std::vector<std::string> some = warnings_;
    std::ranges::sort(some);
    if (some.size() > most) {
      std::string const more = std::to_string(some.size() - most);
      some.resize(most);
      some.push_back(more + " more files are decoded, but are odd.");
    }
    return some;
  }

 private:
  static std::uint64_t whole_pages(std::uint64_t bytes) noexcept { return (bytes + 4095) / 4096 * 4096; }

  std::unique_ptr<penstock::JpegDecoder> take() {
    {
      std::scoped_lock const lock(mutex_);
      if (!idle_.empty()) {
        auto decoder = std::move(idle_.back());
        idle_.pop_back();
        return decoder;
      }
    }
    return std::make_unique<penstock::JpegDecoder>();
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<penstock::JpegDecoder>> idle_;
  std::vector<std::string> warnings_;
};
