// SPDX-License-Identifier: Apache-2.0
// What the C interface refuses, and what it says of itself.
#include <atomic>
#include <cstddef>
#include <fstream>

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
  refuses(penstock_pipeline_create(devices, &options, &pipeline), PENSTOCK_BAD_ARGUMENT,
          "The option lanes 'many': give whole");
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

TEST_F(TheCInterface, RefusesPromisesThatItDoesNotKnow) {
  make();
  stage.promises = PENSTOCK_ANY_ALIGNMENT | 16;
  EXPECT_EQ(penstock_run(pipeline, &source, &stage, &sink, &report), PENSTOCK_UNSUPPORTED);
  EXPECT_THAT(penstock_last_error(), HasSubstr("a promise"));
  EXPECT_EQ(penstock_start(pipeline, &stage, &sink), PENSTOCK_UNSUPPORTED);
  stage.promises = PENSTOCK_ELEMENTWISE | PENSTOCK_READS_ONCE | PENSTOCK_CAPTURABLE | PENSTOCK_ANY_ALIGNMENT;
  ASSERT_EQ(penstock_run(pipeline, &source, &stage, &sink, &report), PENSTOCK_OK) << penstock_last_error();
  EXPECT_EQ(done.size(), input_tiles);
}

TEST_F(TheCInterface, RefusesBytesOfAnInputThatNoTileHas) {
  source.fill = [](void*, penstock_tile* tile) -> std::int64_t {
    EXPECT_EQ(penstock_tile_set_filled(nullptr, 0, 1), PENSTOCK_BAD_ARGUMENT);
    EXPECT_EQ(penstock_tile_set_filled(tile, 4, 1), PENSTOCK_BAD_ARGUMENT);
    EXPECT_THAT(penstock_last_error(), HasSubstr("no input 4"));
    EXPECT_EQ(penstock_tile_filled(tile, 4), 0u);
    return bytes;
  };
  run();
}

/// The table of docs/c.md: options, and values if these are words.
TEST_F(TheCInterface, TakesTheOptionsAndValuesOfItsPage) {
  std::ifstream page(PENSTOCK_SOURCE "/docs/c.md");
  int rows = 0;
  for (std::string line; std::getline(page, line);) {
    std::size_t const second = line.find(" | ");
    if (!line.starts_with("| `") || second == std::string::npos) continue;
    ++rows;
    auto const words = [](std::string const& cell) {
      std::vector<std::string> all;
      for (std::size_t from = 0; (from = cell.find('`', from)) != std::string::npos;) {
        std::size_t const end = cell.find('`', from + 1);
        all.push_back(cell.substr(from + 1, end - from - 1));
        from = end + 1;
      }
      return all;
    };
    std::vector<std::string> values = words(line.substr(second));
    if (values.empty()) values = {"0", "4"};
    for (std::string const& name : words(line.substr(0, second))) {
      for (std::string const& value : values) {
        penstock_option const one{name.c_str(), value.c_str()};
        options.options = &one;
        options.option_count = 1;
        EXPECT_EQ(penstock_pipeline_create(devices, &options, &pipeline), PENSTOCK_OK)
            << name << ' ' << value << ": " << penstock_last_error();
        penstock_pipeline_destroy(pipeline);
        pipeline = nullptr;
      }
    }
  }
  EXPECT_EQ(rows, 8);
}

/// A structure of a program that was compiled for an older or a newer library.
TEST_F(TheCInterface, TakesStructuresOfOtherVersions) {
  for (std::size_t const no_size : {std::size_t{0}, std::size_t{7}, std::size_t{4097}, ~std::size_t{0}}) {
    options.size = no_size;
    refuses(penstock_pipeline_create(devices, &options, &pipeline), PENSTOCK_BAD_ARGUMENT, "has no size");
  }
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
  EXPECT_EQ(all["schema"], 1);
  EXPECT_EQ(all["kind"], "devices");
  ASSERT_EQ(all["devices"].size(), 1u);
  EXPECT_EQ(all["devices"][0]["name"], "cpu:0");
  EXPECT_EQ(all["devices"][0]["kind"], "cpu");
  std::uint32_t const version = penstock_version();
  EXPECT_EQ(
      std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." + std::to_string(version % 100),
      PENSTOCK_PROJECT_VERSION);
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
