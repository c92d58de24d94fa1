// SPDX-License-Identifier: Apache-2.0
// What runs of images refuse.
#include <cstdint>
#include <limits>

#include "c/image_pipeline.hpp"

namespace penstock::c {
namespace {

using testing::HasSubstr;

TEST_F(ImagesAsTensors, AreNoFilesAndNotFed) {
  add(jpeg(30));
  make();
  penstock_completion none = with_size<penstock_completion>();
  EXPECT_EQ(penstock_next(pipeline, 0, &none), PENSTOCK_ENDED);
  char const* reason = nullptr;
  ASSERT_EQ(penstock_begin(pipeline, nullptr, nullptr), PENSTOCK_OK) << penstock_last_error();
  penstock_tile* fed = nullptr;
  ASSERT_EQ(penstock_borrow(pipeline, &fed), PENSTOCK_OK);
  EXPECT_EQ(penstock_tile_problem(pipeline, fed, 0, &reason), PENSTOCK_BAD_ARGUMENT);
  EXPECT_THAT(penstock_last_error(), HasSubstr("penstock_begin_images starts"));
  penstock_tile_give_back(fed);
  refuses_images(PENSTOCK_BAD_ARGUMENT, "The pipeline runs already: penstock_drain ends that first.");
  ASSERT_EQ(penstock_end_input(pipeline), PENSTOCK_OK);
  drain();
  penstock_report_destroy(report);
  begin();
  EXPECT_EQ(penstock_end_input(pipeline), PENSTOCK_BAD_ARGUMENT);
  EXPECT_THAT(penstock_last_error(), HasSubstr("The input is images"));
  penstock_completion const one = next();
  auto place = with_size<penstock_place>();
  EXPECT_EQ(penstock_tile_place(pipeline, one.tile, &place), PENSTOCK_BAD_ARGUMENT);
  EXPECT_THAT(penstock_last_error(), HasSubstr("several images"));
  penstock_tile_give_back(one.tile);
  drain();
}

TEST_F(ImagesAsTensors, RefuseWhatTheyCannotBe) {
  make();
  EXPECT_EQ(penstock_begin_images(nullptr, &images), PENSTOCK_BAD_ARGUMENT);
  EXPECT_EQ(penstock_begin_images(pipeline, nullptr), PENSTOCK_BAD_ARGUMENT);
  refuses_images(PENSTOCK_BAD_ARGUMENT, "There are no images: name the path of one at least.");
  add(jpeg(30));
  parts = {{.path = 1, .offset = 0, .bytes = 0}};
  refuses_images(PENSTOCK_BAD_ARGUMENT, "An image is of path 1, but there are 1, from 0 on.");
  parts.clear();
  order = {0, 3};
  refuses_images(PENSTOCK_BAD_ARGUMENT, "The order has image 3, but there are 1, from 0 on.");
  order.clear();
  images.flags = 32;
  refuses_images(PENSTOCK_UNSUPPORTED, "a flag that this version of the library does not know");
  images.flags = 0;
  images.width = 65'536;
  refuses_images(PENSTOCK_BAD_ARGUMENT, "1 to 65535 pixels, and not 65536");
  images.width = 5;
  refuses_images(PENSTOCK_BAD_ARGUMENT, "set output_bytes to 480.");
  images.width = 4;
  images.mean[2] = std::numeric_limits<float>::quiet_NaN();
  refuses_images(PENSTOCK_BAD_ARGUMENT, "finite numbers");
  images.mean[2] = 0;
  images.least_area = 1.5F;
  refuses_images(PENSTOCK_BAD_ARGUMENT, "`least_area`");
  images.least_area = 0;
  images.most_ratio = 0.5F;
  refuses_images(PENSTOCK_BAD_ARGUMENT, "`most_ratio`");
  images.most_ratio = 0;
  images.batch = 2000;
  images.width = images.height = 1;
  options.output_bytes = 24'000;
  penstock_pipeline_destroy(pipeline);
  make();
  refuses_images(PENSTOCK_BAD_ARGUMENT, "A tile has 65536 bytes for 2000 images: set input_bytes");
  options.flags = PENSTOCK_IN_PLACE;
  options.output_bytes = options.input_bytes;
  penstock_pipeline_destroy(pipeline);
  make();
  refuses_images(PENSTOCK_BAD_ARGUMENT, "leave out PENSTOCK_IN_PLACE");
}

}  // namespace
}  // namespace penstock::c
