// SPDX-License-Identifier: Apache-2.0
// Decodes a file of `images` into a tile.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "jpeg_messages.hpp"
#include "orientation.hpp"
#include <penstock/error.hpp>
#include <penstock/images.hpp>
#include <penstock/ingest/files.hpp>
#include <sys/stat.h>

/// Options of decoding.
struct Decoding {
  std::uint32_t side =
      0;               ///< Smaller than the file says, by up to 8, if no side gets shorter than this; 0: in full size.
  bool square = true;  ///< The part is the square in the middle; otherwise it is the whole image.
  bool oriented = true;  ///< The image is turned as EXIF says.
};

/// Decodes files one after the other, and reuses the memory.
///
/// Threads: one at a time.
class Decoder {
 public:
  /// Returns the bytes of head and pixels.
  ///
  /// Throws: Error, with the path in front, as `name_in_line` prints it.
  std::size_t decode(std::string const& path, Decoding const& how, std::span<std::byte> input) {
    auto const refuse = [&](std::string const& why) {
      throw penstock::Error(penstock::ErrorKind::system, penstock::name_in_line(path) + ": " + why);
    };
    errno = 0;
    if (!read(path)) refuse("it cannot be read: " + std::system_category().message(errno) + ".");
    if (bytes_ == 0) refuse("it is empty.");
    messages_.take_warning();
    messages_.pixels_are_there(false);
    Image image(messages_);
    if (!messages_.try_to([&] {
          image.begin();
          read_head(image.parts);
        })) {
      refuse(messages_.error());
    }
    turn_ = how.oriented ? orientation_in(image.parts) : Orientation{};
    penstock::ImageHead head;
    for (unsigned part = how.side != 0 ? 8 : 1; part != 0; part /= 2) {
      image.parts.scale_num = 1;
      image.parts.scale_denom = part;
      head.width = (image.parts.image_width + part - 1) / part;
      head.height = (image.parts.image_height + part - 1) / part;
      if (std::min(head.width, head.height) >= how.side) break;
    }
    if (turn_.swaps_sides()) std::swap(head.width, head.height);
    how.square ? head.take_square() : head.take_all();
    if (head.bytes() > input.size())
      refuse("it needs --tile " + std::to_string(whole_pages(head.bytes())) + " or more.");
    std::memcpy(input.data(), &head, sizeof head);
    auto* const pixels = reinterpret_cast<unsigned char*>(input.data()) + sizeof head;
    auto const bytes = static_cast<std::size_t>(head.bytes() - sizeof head);
    if (!turn_.as_it_is() && unturned_.size() < bytes) unturned_.resize(bytes);
    line_.resize(std::size_t{4} * image.parts.image_width);
    if (!messages_.try_to([&] { read_pixels(image.parts, turn_.as_it_is() ? pixels : unturned_.data()); }))
      refuse(messages_.error());
    if (!turn_.as_it_is()) turn(head, pixels);
    return sizeof head + bytes;
  }
  /// The oddity of the last file, which is decoded all the same; empty if there is none.
  std::string take_warning() { return messages_.take_warning(); }

 private:
  /// State of libjpeg for one file. Nothing of it is used again: tables that a file lacks would be those of another.
  struct Image {
    explicit Image(JpegMessages& messages) { parts.err = messages.manager(); }
    Image(Image const&) = delete;
    Image& operator=(Image const&) = delete;
    ~Image() { jpeg_destroy_decompress(&parts); }

    /// Called within `try_to`: a libjpeg of another version than its header refuses.
    void begin() {
      jpeg_create_decompress(&parts);
      // A file with endless scans may make a decoder work for hours.
      watch.progress_monitor = [](j_common_ptr image) {
        constexpr int most_scans = 500;
        auto const& file = *reinterpret_cast<jpeg_decompress_struct const*>(image);
        if (file.input_scan_number > most_scans) JpegMessages::refuse(image, "it has more than 500 scans.");
      };
      parts.progress = &watch;
    }

    jpeg_decompress_struct parts = {};
    jpeg_progress_mgr watch = {};
  };

  static std::uint64_t whole_pages(std::uint64_t bytes) noexcept { return (bytes + 4095) / 4096 * 4096; }

  bool read(std::string const& path) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::fopen(path.c_str(), "rbe"), std::fclose);
    struct stat found = {};
    if (file == nullptr || fstat(fileno(file.get()), &found) != 0) return false;
    bytes_ = static_cast<std::size_t>(found.st_size);
    if (jpeg_.size() < bytes_) jpeg_.resize(bytes_);
    std::setvbuf(file.get(), nullptr, _IONBF, 0);  // It is read by one call.
    // A file that became shorter is decoded as far as it goes.
    bytes_ = std::fread(jpeg_.data(), 1, bytes_, file.get());
    return std::ferror(file.get()) == 0;
  }
  void read_head(jpeg_decompress_struct& image) const {
    jpeg_mem_src(&image, jpeg_.data(), static_cast<unsigned long>(bytes_));  // NOLINT(google-runtime-int): libjpeg's.
    jpeg_save_markers(&image, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(&image, TRUE);
    image.out_color_space = image.num_components == 4 ? JCS_CMYK : JCS_RGB;
  }
  static Orientation orientation_in(jpeg_decompress_struct const& image) {
    for (auto const* marker = image.marker_list; marker != nullptr; marker = marker->next) {
      Orientation const found = orientation_of(std::span(marker->data, marker->data_length));
      if (!found.as_it_is()) return found;
    }
    return {};
  }
  void read_pixels(jpeg_decompress_struct& image, unsigned char* to) {
    jpeg_start_decompress(&image);
    std::size_t const width = image.output_width;
    bool const inks = image.out_color_space == JCS_CMYK;
    while (image.output_scanline < image.output_height) {
      unsigned char* row = inks ? line_.data() : to;
      jpeg_read_scanlines(&image, &row, 1);
      for (std::size_t k = 0; inks && k < 3 * width; ++k)
        to[k] = light_of(line_[k / 3 * 4 + k % 3], line_[k / 3 * 4 + 3]);
      to += 3 * width;
    }
    messages_.pixels_are_there(true);
    jpeg_finish_decompress(&image);
  }
  /// Files of Adobe's programs have inverted inks, 255 for none.
  static unsigned char light_of(unsigned ink, unsigned black) noexcept {
    return static_cast<unsigned char>((ink * black + 127) / 255);
  }
  void turn(penstock::ImageHead const& head, unsigned char* to) const {
    std::size_t const width = turn_.swaps_sides() ? head.height : head.width;
    std::size_t const height = turn_.swaps_sides() ? head.width : head.height;
    for (std::size_t y = 0; y < head.height; ++y) {
      for (std::size_t x = 0; x < head.width; ++x, to += 3) {
        auto const [column, row] = turn_.source(x, y, width, height);
        std::memcpy(to, unturned_.data() + 3 * (row * width + column), 3);
      }
    }
  }

  JpegMessages messages_;
  Orientation turn_;
  std::vector<unsigned char> jpeg_, line_, unturned_;
  std::size_t bytes_ = 0;  ///< Bytes of the file that is in `jpeg_`.
};

/// Holds as many decoders as are in use at once, and notes what is odd about files that they decoded.
///
/// Threads: any.
class Decoders {
 public:
  std::size_t decode(std::string const& path, Decoding const& how, std::span<std::byte> input) {
    std::unique_ptr<Decoder> decoder = take();
    std::size_t const bytes = decoder->decode(path, how, input);
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
  std::vector<std::string> warnings_;
};
