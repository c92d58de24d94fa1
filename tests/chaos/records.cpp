// SPDX-License-Identifier: Apache-2.0
// Records that several writers append, claim and flush, with and without replies, drained at the end or stopped.
#include "penstock/records.hpp"

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "chaos/chaos_case.hpp"
#include "chaos/delays.hpp"
#include "chaos/ledger.hpp"
#include "chaos/world.hpp"

namespace penstock::chaos {
namespace {

constexpr std::size_t most_bytes = 48;

std::size_t bytes_of(std::uint64_t tag, std::size_t fixed) {
  return fixed != 0 ? fixed : 1 + Draw(tag).below(most_bytes);
}

/// One run of records, and what its threads share.
class RecordRun {
 public:
  RecordRun(Case& the_case, Records& records, std::size_t fixed, std::optional<std::uint64_t> stop_after)
      : case_(the_case), records_(records), fixed_(fixed), stop_after_(stop_after) {}

  void run(RecordStages stages, std::uint64_t writers, std::uint64_t each);

 private:
  void write(std::uint64_t writer, std::uint64_t each, Draw draw);
  void write_one(RecordWriter& writer, RecordReply& reply, std::uint64_t tag, Draw& draw);
  void ask(RecordWriter& writer, RecordReply& reply, std::span<std::byte const> content, std::uint64_t tag);
  void claim(RecordWriter& writer, std::size_t bytes, std::uint64_t tag, Draw& draw);
  void wrote();
  void told(std::uint64_t tag, Outcome outcome, std::span<std::byte const> output);
  void close(RecordReport const& report);

  Case& case_;
  Records& records_;
  std::size_t const fixed_;
  std::optional<std::uint64_t> const stop_after_;
  std::atomic<std::uint64_t> written_{0};
  std::mutex mutex_;
  std::map<std::uint64_t, Outcome> told_;
};

void RecordRun::told(std::uint64_t tag, Outcome outcome, std::span<std::byte const> output) {
  std::string const name = "record " + std::to_string(tag);
  bool const right =
      outcome != Outcome::done || (output.size() == bytes_of(tag, fixed_) && has_content(tag, output, 1));
  std::scoped_lock const lock(mutex_);
  case_.note(tag << 2 | static_cast<std::uint64_t>(outcome));
  case_.expect(told_.emplace(tag, outcome).second, name + " has two completions");
  case_.expect(right, name + ": its bytes are wrong");
  case_.expect(outcome == Outcome::done || stop_after_, name + " is not done");
  if (stop_after_ && told_.size() == *stop_after_) records_.stop();
}

void RecordRun::wrote() {
  written_.fetch_add(1);
}

void RecordRun::ask(RecordWriter& writer, RecordReply& reply, std::span<std::byte const> content, std::uint64_t tag) {
  writer.append(content, reply, tag);
  wrote();
  Outcome const outcome = reply.wait();
  told(tag, outcome, reply.output());
}

void RecordRun::claim(RecordWriter& writer, std::size_t bytes, std::uint64_t tag, Draw& draw) {
  RecordRoom room = writer.claim(fixed_ != 0 ? fixed_ : most_bytes);
  write_content(tag, room.bytes().first(bytes));
  if (draw.one_in(8)) return;  // There never was a record.
  room.commit(bytes, tag);
  wrote();
}

void RecordRun::write_one(RecordWriter& writer, RecordReply& reply, std::uint64_t tag, Draw& draw) {
  std::size_t const bytes = bytes_of(tag, fixed_);
  std::vector<std::byte> content(bytes);
  write_content(tag, content);
  switch (draw.below(8)) {
    case 0:
      claim(writer, bytes, tag, draw);
      break;
    case 1:
      ask(writer, reply, content, tag);
      break;
    case 2:
      if (writer.try_append(content, tag)) wrote();
      break;
    case 3:
      writer.flush();
      [[fallthrough]];
    default:
      writer.append(content, tag);
      wrote();
  }
}

void RecordRun::write(std::uint64_t number, std::uint64_t each, Draw draw) {
  RecordWriter writer = records_.writer();
  RecordReply reply(records_);
  try {
    for (std::uint64_t i = 0; i < each; ++i) write_one(writer, reply, number * 100'000 + i, draw);
  } catch (Error const& error) {
    case_.expect(stop_after_.has_value(), std::string("a record was refused: ") + error.what());
  }
}

void RecordRun::close(RecordReport const& report) {
  std::map<Outcome, std::uint64_t> seen;
  for (auto const& [tag, outcome] : told_) ++seen[outcome];
  case_.expect(told_.size() == written_.load(), std::to_string(written_.load()) + " records were written, but " +
                                                    std::to_string(told_.size()) + " have a completion");
  case_.expect(report.done == seen[Outcome::done] && report.failed == seen[Outcome::failed] &&
                   report.cancelled == seen[Outcome::cancelled],
               "the report counts other records than the sink: " + describe(report));
}

void RecordRun::run(RecordStages stages, std::uint64_t writers, std::uint64_t each) {
  records_.start(std::move(stages), [this](RecordCompletion const& one) { told(one.tag, one.outcome, one.output); });
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t k = 0; k < writers; ++k) {
      threads.emplace_back([this, k, each, draw = case_.draw.branch(k)] { write(k, each, draw); });
    }
  }
  close(records_.drain());
}

}  // namespace

void run_records(Case& the_case) {
  begin(the_case.draw.next(), true);
  World world(the_case);
  PipelineOptions options = world.draw_options(the_case);
  options.tile = {.input_bytes = 1024, .output_bytes = 1024, .in_place = the_case.once_in(2, "in_place")};
  options.host_stages.clear();
  std::uint64_t const writers = the_case.pick("writers", 1, 3);
  if (!options.tuning.run_to_completion) options.producers = static_cast<unsigned>(writers);
  options.tuning.tiles = std::max<std::size_t>(options.tuning.tiles, writers + 1);
  bool const one_size = the_case.once_in(2, "one_size");
  RecordOptions packing;
  if (one_size) packing.record_bytes = 32;
  // Every record must leave with the longest because the lanes are hungry, or because it is asked to.
  constexpr std::array<std::chrono::microseconds, 3> lingers{std::chrono::microseconds(0),
                                                             std::chrono::microseconds(500), std::chrono::hours(24)};
  packing.linger = lingers.at(the_case.pick("linger", 0, 2));
  if (the_case.once_in(2, "hungry")) packing.hungry_below = the_case.pick("hungry_below", 1, options.tuning.tiles);
  bool const one_pass = the_case.once_in(2, "one_pass");
  RecordStages const stages =
      on_device([](DeviceRecords const& packed, StreamRef stream) { add_one(packed.input, packed.output, stream); },
                {.reads_once = one_pass, .capturable = false});
  std::optional<Pipeline> pipeline(std::in_place, world.devices(), options);
  std::optional<Records> records(std::in_place, *pipeline, packing);
  for (std::uint64_t left = the_case.pick("runs", 1, 2); left > 0; --left) {
    std::uint64_t const each = the_case.pick("each", 0, 60);
    std::optional<std::uint64_t> stop_after;
    if (the_case.once_in(4, "stop")) stop_after = the_case.pick("stop_after", 1, 1 + writers * each);
    RecordRun(the_case, *records, one_size ? 32 : 0, stop_after).run(stages, writers, each);
  }
  records.reset();
  expect_tiles_home(the_case, pipeline->pool());
}

}  // namespace penstock::chaos
