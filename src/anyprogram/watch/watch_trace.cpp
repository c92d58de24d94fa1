// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watch/watch_trace.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "anyprogram/watched/model.hpp"
#include "observe/verdict/trace_text.hpp"

namespace penstock::cli {
namespace {

constexpr std::array<char const*, 4> kinds{"upload", "download", "kernel", "memset or copy on the device"};

std::string work_name(WatchLog const& log, Work const& work) {
  if (work.kind != WorkKind::kernel) return kinds[static_cast<std::size_t>(work.kind)];
  auto const name = log.kernel_names.find(work.activity->first);
  return name == log.kernel_names.end() ? "kernel" : name->second;
}

void add_slice(TraceText& text, std::uint32_t process, std::uint32_t row, std::pair<std::int64_t, std::int64_t> when,
               std::string_view category, std::string const& name, WatchRecord const& record) {
  text.begin("X", process, row);
  text.time("ts", when.first);
  text.time("dur", when.second - when.first);
  text.add("cat", quoted(std::string(category)));
  text.add("name", quoted(name));
  text.add("args", "{\"correlation\":" + std::to_string(record.correlation) +
                       ",\"bytes\":" + std::to_string(record.bytes) + "}");
  text.end();
}

void write_process(TraceText& text, WatchLog const& log, std::uint64_t from) {
  WatchModel const model(log);
  auto const moment = [&](std::uint64_t time) { return static_cast<std::int64_t>(time - from); };
  text.name_process(log.process, log.program.empty() ? "process " + std::to_string(log.process) : log.program);
  std::map<std::uint32_t, bool> rows;
  for (WatchRecord const& call : log.calls) {
    if (!std::exchange(rows[call.thread], true)) text.name_row(log.process, call.thread, thread_name(log, call.thread));
    add_slice(text, log.process, call.thread, {moment(call.begin), moment(call.end)}, "call", call_name(log, call),
              call);
  }
  // Events of a row must nest, but copies and kernels of a stream may overlap by some nanoseconds.
  constexpr std::uint32_t first_stream_row = 1'000'000;
  std::map<std::uint32_t, bool> stream_rows;
  for (Work const& work : model.works()) {
    auto const kind = static_cast<std::uint32_t>(work.kind);
    std::uint32_t const row = first_stream_row + static_cast<std::uint32_t>(work.stream) * 4 + kind;
    if (!std::exchange(stream_rows[row], true))
      text.name_row(log.process, row,
                    "GPU " + std::to_string(model.streams()[work.stream].device) + ", " +
                        model.stream_text(work.stream) + ", " + kinds[kind]);
    add_slice(text, log.process, row, {moment(work.activity->begin), moment(work.activity->end)}, "device",
              work_name(log, work), *work.activity);
  }
}

}  // namespace

void write_watch_trace(std::ostream& out, std::span<WatchLog const> logs, std::string const& command) {
  TraceText text(out);
  text.notes({{"command", command}});
  std::uint64_t from = logs.empty() ? 0 : logs.front().began;
  for (WatchLog const& log : logs) from = std::min(from, log.began);
  for (WatchLog const& log : logs) write_process(text, log, from);
  text.finish();
}

}  // namespace penstock::cli
