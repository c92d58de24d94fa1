// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/flow/held_lanes.hpp"
#include "engine/flow/pipeline_contract.hpp"
#include "penstock/records.hpp"

namespace penstock {

/// Records in a pipeline of eight tiles on one device. Each test ends with every tile home.
class RecordsWorld : public PipelineWorld {
 protected:
  void TearDown() override;

  /// Makes records of any size, with results in the place of the records, and what `options` says otherwise.
  Records& pack(RecordOptions options = {}, PipelineOptions pipeline = usual());
  Records& records() { return *records_; }
  /// Destroys them as they are.
  void destroy_records() { records_.reset(); }

  /// Adds one to each byte of all records, and calls `also` before.
  RecordStages add_one_to_each(std::function<void(DeviceRecords const&, StreamRef)> also = {},
                               Promises promises = {.reads_once = true});
  /// Adds one like `add_one_to_each`, held until it is let go.
  RecordStages add_one_held_by(HeldLanes& held);
  /// Brings back the sum of each record, as 64 bits, and calls `also` before.
  RecordStages sum_of_each(std::function<void(DeviceRecords const&, StreamRef)> also = {},
                           Promises promises = {.reads_once = true});

  /// Returns the content for a tag: its size and bytes differ from those of its neighbours.
  static std::vector<std::byte> content_of(std::uint64_t tag, std::size_t bytes);
  static std::vector<std::byte> content(std::uint64_t tag) { return content_of(tag, 1 + tag * 37 % 300); }
  /// Notes each completion by its tag.
  RecordSink note();
  /// Completions that were noted of a record.
  struct Told {
    unsigned times = 0;
    Outcome outcome = Outcome::done;
    std::vector<std::byte> output = {};
    std::string stage = {};
  };
  std::map<std::uint64_t, Told> told();
  std::size_t told_so_far();
  void forget_told();
  /// Blocks: until `count` completions were noted.
  void await_told(std::size_t count);
  /// Expects the tags from 0 to count - 1 once each, done, with one added to each byte of their content.
  void expect_each_done_once(std::uint64_t count);

 private:
  std::optional<Records> records_;
  std::mutex told_mutex_;
  std::map<std::uint64_t, Told> told_;
  std::size_t noted_ = 0;
};

/// Promises that are held to on each device.
class RecordsContract : public RecordsWorld, public testing::WithParamInterface<DeviceUnderTest> {
 protected:
  DeviceUnderTest const& under_test() const override { return GetParam(); }
};

}  // namespace penstock
