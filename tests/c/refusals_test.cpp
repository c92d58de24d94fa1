// SPDX-License-Identifier: Apache-2.0
// What the C interface refuses, and what it says of itself.
#include <atomic>
#include <cstddef>

#include "c/c_pipeline.hpp"

namespace penstock::c {
namespace {

using testing::HasSubstr;

TEST_F(TheCInterface, RefusesWhatIsNotThere) {
  refuses(penstock_pipeline_create(nullptr, &options, &pipeline), PENSTOCK_BAD_ARGUMENT, "`devices` is null");
  refuses(penstock_pipeline_create(devices, nullptr, &pipeline), PENSTOCK_BAD_ARGUMENT, "`options` is null");
  refuses(penstock_pipeline_create(devices, &options, nullptr), PENSTOCK_BAD_ARGUMENT, "`pipeline` is null");
  refuses(penstock_submit(nullptr, nullptr), PENSTOCK_BAD_ARGUMENT, "`tile` is null");
  refuses(penstock_devices_open("gpu9", &devices), PENSTOCK_BAD_ARGUMENT, "gpu9");
  penstock_pipeline_destroy(nullptr);
  penstock_report_destroy(nullptr);
  penstock_tile_give_back(nullptr);
  penstock_free_text(nullptr);
}

TEST_F(TheCInterface, RefusesOptionsThatItDoesNotHave) {
  named[1] = {"lane", "1"};
  refuses(penstock_pipeline_create(devices, &options, &pipeline), PENSTOCK_BAD_ARGUMENT, "There is no option 'lane'");
  named[1] = {"lanes", "many"};
  refuses(penstock_pipeline_create(devices, &options, &pipeline), PENSTOCK_BAD_ARGUMENT, "--lanes 'many'");
  named[1] = {"tile", "4KiB"};
  refuses(penstock_pipeline_create(devices, &options, &pipeline), PENSTOCK_BAD_ARGUMENT, "input_bytes");
  named[1] = {"lanes", nullptr};
  refuses(penstock_pipeline_create(devices, &options, &pipeline), PENSTOCK_BAD_ARGUMENT, "`value` is null");
  options.flags = std::uint64_t{1} << 60;
  refuses(penstock_pipeline_create(devices, &options, &pipeline), PENSTOCK_UNSUPPORTED, "a flag");
  options.flags = 0;
  options.input_bytes = options.output_bytes = options.option_count = 0;
  EXPECT_EQ(penstock_pipeline_create(devices, &options, &pipeline), PENSTOCK_BAD_ARGUMENT);
}

TEST_F(TheCInterface, RefusesFunctionsThatAreMissing) {
  make();
  source.next = nullptr;
  EXPECT_EQ(penstock_run(pipeline, &source, &stage, &sink, &report), PENSTOCK_BAD_ARGUMENT);
  EXPECT_THAT(penstock_last_error(), HasSubstr("`next`"));
  stage.run = nullptr;
  EXPECT_EQ(penstock_start(pipeline, &stage, &sink), PENSTOCK_BAD_ARGUMENT);
  EXPECT_THAT(penstock_last_error(), HasSubstr("`run`"));
}

/// A structure of a program that was compiled for an older or a newer library.
TEST_F(TheCInterface, TakesStructuresOfOtherVersions) {
  options.size = 0;
  refuses(penstock_pipeline_create(devices, &options, &pipeline), PENSTOCK_BAD_ARGUMENT, "has no size");
  struct Newer {
    penstock_pipeline_options known;
    std::uint64_t more;
  } newer{.known = options, .more = 1};
  newer.known.size = sizeof(newer);
  refuses(penstock_pipeline_create(devices, &newer.known, &pipeline), PENSTOCK_UNSUPPORTED, "update it");
  newer.more = 0;
  EXPECT_EQ(penstock_pipeline_create(devices, &newer.known, &pipeline), PENSTOCK_OK) << penstock_last_error();
  penstock_stage older = stage;
  older.size = offsetof(penstock_stage, finish);
  older.merge = [](void*, void*) { FAIL() << "a member behind the end of the structure was used"; };
  ASSERT_EQ(penstock_run(pipeline, &source, &older, &sink, &report), PENSTOCK_OK) << penstock_last_error();
  EXPECT_EQ(done.size(), input_tiles);
}

TEST_F(TheCInterface, DescribesDevicesAndItself) {
  char* text = nullptr;
  ASSERT_EQ(penstock_devices_json(devices, &text), PENSTOCK_OK);
  json const all = json::parse(owned(text));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["name"], "cpu:0");
  EXPECT_EQ(all[0]["kind"], "cpu");
  EXPECT_GE(penstock_version(), 100u);
}

TEST_F(TheCInterface, OutlivesTheHandleOfItsDevices) {
  make();
  penstock_devices_close(devices);
  devices = nullptr;
  ASSERT_EQ(penstock_run(pipeline, &source, &stage, &sink, &report), PENSTOCK_OK) << penstock_last_error();
  EXPECT_EQ(done.size(), input_tiles);
}

std::atomic<int> messages{0};

TEST_F(TheCInterface, SendsMessagesToTheHook) {
  penstock_set_message_hook([](char const* sentence) {
    EXPECT_GT(std::strlen(sentence), 10u);
    ++messages;
  });
  source.fill = [](void*, penstock_tile*) -> std::int64_t { return -1; };
  run();
  penstock_report_destroy(report);  // It was not read.
  report = nullptr;
  penstock_set_message_hook(nullptr);
  EXPECT_EQ(messages, 1);
}

}  // namespace
}  // namespace penstock::c
