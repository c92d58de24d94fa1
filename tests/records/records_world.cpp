// SPDX-License-Identifier: Apache-2.0
#include <thread>
#include <utility>

#include "records/records_contract.hpp"

namespace penstock {

void RecordsWorld::TearDown() {
  records_.reset();
  PipelineWorld::TearDown();
}

Records& RecordsWorld::pack(RecordOptions options, PipelineOptions pipeline) {
  records_.reset();
  return records_.emplace(open(std::move(pipeline)), options);
}

RecordStages RecordsWorld::add_one_to_each(std::function<void(DeviceRecords const&, StreamRef)> also,
                                           Promises promises) {
  return on_device(
      [this, also = std::move(also)](DeviceRecords const& packed, StreamRef stream) {
        if (also) also(packed, stream);
        kernels().add_one(stream, packed.input);
      },
      promises);
}

RecordStages RecordsWorld::add_one_held_by(HeldLanes& held) {
  return add_one_to_each([&held](DeviceRecords const&, StreamRef stream) { held.hold(stream); });
}

RecordStages RecordsWorld::sum_of_each(std::function<void(DeviceRecords const&, StreamRef)> also, Promises promises) {
  return on_device(
      [this, also = std::move(also)](DeviceRecords const& packed, StreamRef stream) {
        if (also) also(packed, stream);
        kernels().sum_each(stream, packed.inputs, packed.input, packed.outputs, packed.output);
      },
      promises);
}

std::vector<std::byte> RecordsWorld::content_of(std::uint64_t tag, std::size_t bytes) {
  std::vector<std::byte> all(bytes);
  for (std::size_t i = 0; i < bytes; ++i) all[i] = static_cast<std::byte>(tag * 7 + i);
  return all;
}

RecordSink RecordsWorld::note() {
  return [this](RecordCompletion const& completion) {
    std::scoped_lock const lock(told_mutex_);
    Told& now = told_[completion.tag];
    ++now.times;
    now.outcome = completion.outcome;
    now.output.assign(completion.output.begin(), completion.output.end());
    if (completion.failure != nullptr) now.stage = completion.failure->stage;
    ++noted_;
  };
}

std::map<std::uint64_t, RecordsWorld::Told> RecordsWorld::told() {
  std::scoped_lock const lock(told_mutex_);
  return told_;
}

void RecordsWorld::forget_told() {
  std::scoped_lock const lock(told_mutex_);
  told_.clear();
  noted_ = 0;
}

std::size_t RecordsWorld::told_so_far() {
  std::scoped_lock const lock(told_mutex_);
  return noted_;
}

void RecordsWorld::await_told(std::size_t count) {
  while (told_so_far() < count) std::this_thread::yield();
}

void RecordsWorld::expect_each_done_once(std::uint64_t count) {
  auto const all = told();
  ASSERT_EQ(all.size(), count);
  for (auto const& [tag, one] : all) {
    EXPECT_EQ(one.times, 1u) << tag;
    EXPECT_EQ(one.outcome, Outcome::done) << tag;
    auto expected = content(tag);
    for (std::byte& byte : expected) byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) + 1);
    EXPECT_EQ(one.output, expected) << tag;
  }
}

}  // namespace penstock
