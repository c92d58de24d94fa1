// SPDX-License-Identifier: Apache-2.0
// A job: the lines of a log or of a table, grouped by a number or a time in one field, with the numbers of another one
// added up. `lines run --input access.log` prints, for each status, how many requests had it and the sum of bytes. With
// `--patterns FILE` only lines count that have one of the lines of that file in them.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "../input_parts.hpp"
#include "line_keys.hpp"
#include "line_numbers.hpp"
#include "line_options.hpp"
#include "line_partial.hpp"
#include "line_results.hpp"
#include "pattern_files.hpp"
#include <penstock/ingest/files.hpp>
#include <penstock/ingest/framing.hpp>
#include <penstock/job.hpp>
#include <penstock/lines.hpp>

using namespace penstock;

namespace {

class SumLines final : public Stage {  // Each lane adds up on its device.
 public:
  SumLines(StageContext const& context, LineFields const& fields, Patterns const& patterns, std::size_t count)
      : totals{.groups = std::vector<LineGroup>(count), .reasons = {}},
        fields_(fields),
        patterns_(patterns),
        multiprocessors_(context.spare == 0 ? 0 : context.multiprocessors()),
        groups_(context.device.allocate(count * sizeof(LineGroup))),
        reasons_(context.device.allocate(sizeof(LineReasons))) {
    if (patterns) table_ = context.device.allocate(patterns->table().size());
  }
  Promises promises() const noexcept override { return {.reads_once = true, .capturable = true}; }
  void prepare(StreamRef stream) override {
    stream.upload(groups_.bytes(), std::as_bytes(std::span(totals.groups)));
    stream.upload(reasons_.bytes(), std::as_bytes(std::span(&totals.reasons, 1)));
    if (patterns_) stream.upload(table_.bytes(), patterns_->table());
    sum_lines_prepare(stream);
  }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    std::size_t produced = 0;  // Nothing to bring back for a tile.
    run_batch(std::span(&tile, 1), std::span(&produced, 1), stream);
    return produced;
  }
  bool run_batch(std::span<DeviceTile const> tiles, std::span<std::size_t> produced, StreamRef stream) override {
    inputs_.clear();
    for (DeviceTile const& tile : tiles) inputs_.emplace_back(tile.input);
    sum_lines(inputs_, fields_, table_.bytes(), on_device<LineGroup>(groups_), on_device<LineReasons>(reasons_), stream,
              multiprocessors_);
    std::ranges::fill(produced, 0);
    return true;
  }
  void finish(StreamRef stream) override {
    stream.download(std::as_writable_bytes(std::span(totals.groups)), groups_.bytes());
    stream.download(std::as_writable_bytes(std::span(&totals.reasons, 1)), reasons_.bytes());
  }
  LineTotals totals;

 private:
  template <class Element>
  static DeviceSpan<Element> on_device(DeviceMemory const& memory) {
    return DeviceSpan<std::byte>(memory.bytes()).as<Element>();
  }
  LineFields const fields_;
  Patterns const& patterns_;
  unsigned const multiprocessors_;
  DeviceMemory groups_, reasons_, table_;
  std::vector<DeviceSpan<std::byte const>> inputs_;
};

bool follows(JobPoint const& point) {
  if (point.values.text("follow") == "no") return false;
  if (!point.measured) return true;
  throw Error(ErrorKind::bad_argument, "A file that is followed has no end to be measured: only run can follow it.");
}

void expect_followable(JobValues const& values) {
  if (values.text("follow") == "no" || std::ranges::count(values.texts("input"), "-") == 0) return;
  throw Error(ErrorKind::bad_argument,
              "Standard input is read until its writer ends it, and cannot be followed: leave out --follow, or name a "
              "file with --input.");
}

/// The parts of all files: whole lines, or a whole file.
std::vector<JobPart> parts_of(JobPoint const& point, std::uint64_t bytes) {
  if (point.values.text("follow") != "no")
    throw Error(ErrorKind::bad_argument,
                "A file that is followed has no end at which its parts are added up: leave out "
                "--follow, or --ledger.");
  std::string const& patterns = point.values.text("patterns");
  if (!patterns.empty() && !std::filesystem::is_regular_file(patterns))
    throw Error(ErrorKind::bad_argument, "Each process on a ledger reads the patterns, and '" + patterns +
                                             "' is no regular file: name one with --patterns, or leave out --ledger.");
  std::vector<JobPart> parts;
  for (std::string const& path : point.values.texts("input")) {
    auto const ranges = line_ranges(path, bytes);
    if (ranges.empty()) parts.push_back({.path = path});
    for (FileRange const& range : ranges) parts.push_back({path, range.begin, range.end});
  }
  return parts;
}

JobWork sum_file(JobPoint const& point, PatternFiles& files) {
  std::size_t const count = point.values.number("groups") + 1;
  // Each run has its own totals.
  auto const all = std::make_shared<LineTotals>(LineTotals{std::vector<LineGroup>(count), LineReasons{}});
  LineFields const fields = fields_of(point.values);
  auto const patterns = files.of(point);
  return {
      .source =
          [inputs = inputs_of(point), stop = point.stop, follow = follows(point)](Pool const& pool) {
            return std::make_unique<FileSource>(
                inputs, pool,
                FileSourceOptions{
                    .stop = stop, .framing = lines(), .follow = follow, .decompress = true, .text = true});
          },
      .stages =
          Stages{.make = [=](StageContext const& c) { return std::make_unique<SumLines>(c, fields, *patterns, count); },
                 .merge = [all](Stage& lane) { *all += static_cast<SumLines&>(lane).totals; }},
      .digest = [=] { return digest_of_bytes(std::as_bytes(std::span(std::string_view(text_of(*all, fields))))); },
      .results = [=] { return text_of(*all, fields); },
      .remarks = [=, values = point.values] { return LineKeys(*all, fields, values).remarks(); },
      .left_out =
          [=, values = point.values] {
            std::vector<LeftOut> left = LineKeys(*all, fields, values).left_out();
            std::ranges::move(numbers_left_out(*all, fields, values), std::back_inserter(left));
            return left;
          },
      .partial = [=] { return line_partial(*all, fields, *patterns); },
      .add_partial = [=](std::string_view text) { add_line_partial(text, fields, *patterns, *all); }};
}

}  // namespace

int main(int count, char** arguments) {
  PatternFiles patterns;
  std::vector<JobOption> options{
      files_option("input", "The files, one after the other; - is standard input"),
      optional_file_option("patterns", "Only lines count that have a line of this file in them"),
      word_option("follow", "Read on as the files grow, until ctrl-C", {"no", "yes"})};
  std::ranges::move(line_options(), std::back_inserter(options));
  return run_job(count, arguments,
                 {.sentence = "Groups lines by a number or a time, and adds up another number",
                  .options = std::move(options),
                  .make = [&](JobPoint const& point) { return sum_file(point, patterns); },
                  .check =
                      [&](JobPoint const& point) {
                        expect_followable(point.values);
                        // A pipe is read later, where a stop request ends the wait for its writer.
                        if (std::filesystem::is_regular_file(point.values.text("patterns"))) patterns.of(point);
                        static_cast<void>(fields_of(point.values));
                      },
                  .alone = [](JobPoint const&) { return Alone{.stage = true}; },  // Any bytes will do.
                  .parts = parts_of,
                  .parallel_sink = true});  // It has no sink.
}
