// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <memory>

#include "images/jpeg/jpeg_messages.hpp"

#include "penstock/images/jpeg_decoder.hpp"

namespace penstock {

std::vector<std::byte> encode_jpeg(std::span<unsigned char const> pixels, std::uint32_t width, int quality) {
  JpegMessages messages;
  jpeg_compress_struct coder = {};
  coder.err = messages.manager();
  unsigned char* jpeg = nullptr;
  unsigned long bytes = 0;  // NOLINT(google-runtime-int): libjpeg's.
  bool const done = messages.try_to([&] {
    jpeg_create_compress(&coder);
    coder.image_width = width;
    coder.image_height = width == 0 ? 0 : static_cast<JDIMENSION>(pixels.size() / 3 / width);
    jpeg_mem_dest(&coder, &jpeg, &bytes);
    coder.input_components = 3;
    coder.in_color_space = JCS_RGB;
    jpeg_set_defaults(&coder);
    jpeg_set_quality(&coder, quality, TRUE);
    coder.comp_info[0].h_samp_factor = coder.comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(&coder, TRUE);
    while (coder.next_scanline < coder.image_height) {
      // libjpeg does not write to it.
      auto* row = const_cast<unsigned char*>(pixels.data()) + std::size_t{3} * width * coder.next_scanline;
      jpeg_write_scanlines(&coder, &row, 1);
    }
    jpeg_finish_compress(&coder);
  });
  jpeg_destroy_compress(&coder);
  std::unique_ptr<unsigned char, void (*)(void*)> const owner(jpeg, std::free);
  if (!done) throw Error(ErrorKind::system, messages.error());
  auto const all = std::as_bytes(std::span(jpeg, bytes));
  return {all.begin(), all.end()};
}

}  // namespace penstock
