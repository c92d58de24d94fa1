// SPDX-License-Identifier: Apache-2.0
// Streams of a program in C: copies and kernels.
#include <array>

#include "c/c_pipeline.hpp"

namespace penstock::c {
namespace {

using testing::HasSubstr;

TEST_F(TheCInterface, CopiesInTheOrderOfAStream) {
  input_tiles = 1;
  stage.run = [](void*, penstock_device_tile const* tile, penstock_stream* stream) -> std::int64_t {
    static std::array<unsigned char, bytes> host;
    host.fill(1);  // What the sink expects of tile 0.
    EXPECT_EQ(penstock_stream_upload(stream, tile->output, host.data(), bytes), PENSTOCK_OK);
    EXPECT_EQ(penstock_stream_synchronize(stream), PENSTOCK_OK);
    std::array<unsigned char, bytes> back{};
    EXPECT_EQ(penstock_stream_download(stream, back.data(), tile->output, bytes), PENSTOCK_OK);
    EXPECT_EQ(penstock_stream_synchronize(stream), PENSTOCK_OK);
    EXPECT_EQ(back, host);
    return bytes;
  };
  run();
  EXPECT_EQ(done.size(), 1u);
}

TEST_F(TheCInterface, RefusesCopiesWithoutMemory) {
  input_tiles = 1;
  stage.run = [](void*, penstock_device_tile const* tile, penstock_stream* stream) -> std::int64_t {
    std::array<unsigned char, bytes> host{};
    EXPECT_EQ(penstock_stream_upload(stream, tile->output, nullptr, bytes), PENSTOCK_BAD_ARGUMENT);
    EXPECT_THAT(penstock_last_error(), HasSubstr("`host` is null"));
    EXPECT_EQ(penstock_stream_upload(stream, nullptr, host.data(), bytes), PENSTOCK_BAD_ARGUMENT);
    EXPECT_THAT(penstock_last_error(), HasSubstr("`device` is null"));
    EXPECT_EQ(penstock_stream_download(stream, nullptr, tile->output, bytes), PENSTOCK_BAD_ARGUMENT);
    EXPECT_THAT(penstock_last_error(), HasSubstr("`host` is null"));
    EXPECT_EQ(penstock_stream_download(stream, host.data(), nullptr, bytes), PENSTOCK_BAD_ARGUMENT);
    EXPECT_THAT(penstock_last_error(), HasSubstr("`device` is null"));
    EXPECT_EQ(penstock_stream_upload(stream, nullptr, nullptr, 0), PENSTOCK_OK) << penstock_last_error();
    return 0;
  };
  run();
  EXPECT_THAT(failures, testing::IsEmpty());
}

TEST_F(TheCInterface, CopiesTheArgumentsOfKernels) {
  input_tiles = 1;
  stage.run = [](void*, penstock_device_tile const* tile, penstock_stream* stream) -> std::int64_t {
    struct Argument {
      std::array<unsigned char, 4096 - sizeof(void*)> numbers;
      void* output;
    } argument;
    argument.numbers.fill(1);  // What the sink expects of tile 0.
    argument.output = tile->output;
    auto const kernel = [](void* given, std::uint32_t block) {
      auto const& copy = *static_cast<Argument const*>(given);
      static_cast<unsigned char*>(copy.output)[block] = copy.numbers[block];
    };
    EXPECT_EQ(penstock_stream_launch(stream, bytes, kernel, &argument, sizeof(argument), nullptr), PENSTOCK_OK);
    argument.numbers.fill(9);
    for (std::size_t const too_many : {sizeof(argument) + 1, ~std::size_t{0}}) {
      EXPECT_EQ(penstock_stream_launch(stream, bytes, kernel, &argument, too_many, nullptr), PENSTOCK_BAD_ARGUMENT);
      EXPECT_THAT(penstock_last_error(), HasSubstr("may have 4096"));
    }
    return bytes;
  };
  run();
  EXPECT_EQ(done.size(), 1u);
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace penstock::c
