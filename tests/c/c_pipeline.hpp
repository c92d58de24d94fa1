// SPDX-License-Identifier: Apache-2.0
// A pipeline on the CPU device, by the C interface.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "penstock/penstock.h"

namespace penstock::c {

using nlohmann::json;

template <class Structure>
Structure with_size() {
  Structure structure{};
  structure.size = sizeof(structure);
  return structure;
}

inline std::string owned(char* text) {
  std::unique_ptr<char, decltype(&penstock_free_text)> const all(text, penstock_free_text);
  return all.get();
}

/// Eight tiles of 256 bytes, the alignment of tiles, on the CPU device; each byte comes back increased by one. All
/// tiles are home at the end.
struct TheCInterface : testing::Test {
  static constexpr std::size_t bytes = 256;

  penstock_devices* devices = nullptr;
  penstock_pipeline* pipeline = nullptr;
  penstock_report* report = nullptr;
  penstock_pipeline_options options = with_size<penstock_pipeline_options>();
  penstock_source source = with_size<penstock_source>();
  penstock_stage stage = with_size<penstock_stage>();
  penstock_sink sink = with_size<penstock_sink>();
  std::array<penstock_option, 2> named{{{"tiles", "8"}, {"lanes", "1"}}};
  std::uint64_t input_tiles = 20;

  std::mutex mutex;
  std::vector<std::uint64_t> done;  ///< Sequences of tiles that came back right.
  std::vector<std::string> failures;
  std::vector<penstock_status> kinds;  ///< Those of `failures`.
  std::uint64_t cancelled = 0;
  std::vector<penstock_tile*> kept;
  std::uint64_t wrong = 0;
  bool keeps = false;

  explicit TheCInterface(char const* names = "cpu") {
    EXPECT_EQ(penstock_devices_open(names, &devices), PENSTOCK_OK) << penstock_last_error();
    options.input_bytes = options.output_bytes = bytes;
    options.options = named.data();
    options.option_count = named.size();
    source.user = sink.user = this;
    source.next = [](void* user, penstock_tile* tile) {
      return penstock_tile_sequence(tile) < static_cast<TheCInterface*>(user)->input_tiles ? 1 : 0;
    };
    source.fill = [](void*, penstock_tile* tile) {
      penstock_bytes const input = penstock_tile_input(tile, 0);
      std::memset(input.data, static_cast<int>(penstock_tile_sequence(tile) % 100), input.size);
      return static_cast<std::int64_t>(input.size);
    };
    stage.run = increase;
    sink.take = [](void* user, penstock_completion* completion) {
      return static_cast<TheCInterface*>(user)->take(*completion);
    };
  }

  static std::int64_t increase(void*, penstock_device_tile const* tile, penstock_stream* stream) {
    auto const kernel = [](void* argument, std::uint32_t) {
      auto const& it = *static_cast<penstock_device_tile const*>(argument);
      for (std::size_t i = 0; i < it.input_bytes; ++i) {
        static_cast<unsigned char*>(it.output)[i] =
            static_cast<unsigned char>(static_cast<unsigned char const*>(it.input)[i] + 1);
      }
    };
    if (penstock_stream_launch(stream, 1, kernel, tile, sizeof(*tile), nullptr) != PENSTOCK_OK) return -1;
    return static_cast<std::int64_t>(tile->input_bytes);
  }

  std::int32_t take(penstock_completion& completion) {
    std::lock_guard const lock(mutex);
    if (completion.outcome == PENSTOCK_TILE_FAILED) {
      failures.push_back(std::string(completion.stage) + ": " + completion.reason);
      kinds.push_back(completion.kind);
      return 0;
    }
    EXPECT_EQ(completion.kind, PENSTOCK_OK);
    EXPECT_EQ(completion.stage, nullptr);
    EXPECT_EQ(completion.reason, nullptr);
    if (completion.outcome == PENSTOCK_CANCELLED) {
      ++cancelled;
      return 0;
    }
    penstock_bytes const output = penstock_tile_output(completion.tile);
    auto const* const first = static_cast<unsigned char const*>(output.data);
    std::uint64_t const sequence = penstock_tile_sequence(completion.tile);
    bool const right = penstock_tile_produced(completion.tile) == bytes && first[0] == sequence % 100 + 1 &&
                       first[bytes - 1] == first[0];
    right ? done.push_back(sequence) : void(++wrong);
    if (keeps) {
      completion.keep = 1;
      kept.push_back(completion.tile);
    }
    return 0;
  }

  void make() {
    ASSERT_EQ(penstock_pipeline_create(devices, &options, &pipeline), PENSTOCK_OK) << penstock_last_error();
  }
  void run() {
    make();
    ASSERT_EQ(penstock_run(pipeline, &source, &stage, &sink, &report), PENSTOCK_OK) << penstock_last_error();
  }
  json report_data() const {
    char* text = nullptr;
    EXPECT_EQ(penstock_report_json(report, &text), PENSTOCK_OK);
    return json::parse(owned(text));
  }
  json snapshot() const {
    char* text = nullptr;
    EXPECT_EQ(penstock_snapshot_json(pipeline, &text), PENSTOCK_OK);
    return json::parse(owned(text));
  }
  void refuses(penstock_status status, penstock_status expected, std::string const& words) {
    EXPECT_EQ(status, expected);
    EXPECT_THAT(penstock_last_error(), testing::HasSubstr(words));
    EXPECT_EQ(pipeline, nullptr) << "nothing is written where there is a refusal";
  }

  void TearDown() override {
    if (pipeline != nullptr) {
      EXPECT_EQ(snapshot()["pool"]["lent"], 0) << "a tile never came home";
    }
    penstock_pipeline_destroy(pipeline);
    if (report != nullptr) static_cast<void>(penstock_report_ok(report));
    penstock_report_destroy(report);
    penstock_devices_close(devices);
  }
};

}  // namespace penstock::c
