// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/log.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include <cxxabi.h>

#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

using namespace watch_log;

std::string text_of(Record const& record) {
  std::array<char, text_bytes> text{};
  std::memcpy(text.data(), reinterpret_cast<char const*>(&record) + text_at, text.size());
  return {text.data(), strnlen(text.data(), text.size())};
}

/// A C++ name in the form of its source.
std::string demangled(std::string const& name) {
  struct Freed {
    void operator()(char* text) const noexcept { std::free(text); }
  };
  if (!name.starts_with("_Z")) return name;
  int problem = 0;
  std::unique_ptr<char, Freed> const text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &problem));
  return problem == 0 && text != nullptr ? text.get() : name;
}

/// Twelve days: no program is watched for longer.
constexpr std::uint64_t longest = std::uint64_t{1} << 50;

bool has_sound_times(Record const& record, WatchLog const& log) {
  return record.begin >= log.began && record.begin <= record.end && record.end - log.began < longest;
}

/// The parts of names, which may come in any order.
using Parts = std::map<std::uint64_t, std::map<std::uint8_t, std::string>>;

void take(Record const& record, WatchLog& log, Parts& names) {
  switch (record.kind) {
    case Kind::call:
      if (record.what != 0 && record.what < static_cast<std::uint8_t>(Call::count) && has_sound_times(record, log))
        log.calls.push_back(record);
      break;
    case Kind::copy:
    case Kind::fill:
    case Kind::kernel:
      if (has_sound_times(record, log)) log.activities.push_back(record);
      break;
    case Kind::thread: {
      std::array<char, 2 * sizeof record.second> name{};
      std::memcpy(name.data(), &record.second, name.size());
      log.threads[record.thread] = {record.first, std::string(name.data(), strnlen(name.data(), name.size()))};
      break;
    }
    case Kind::name:
      names[record.correlation][record.what] = text_of(record);
      break;
    case Kind::call_name:
      log.call_names[record.correlation] = text_of(record);
      break;
    case Kind::graph_copy:
    case Kind::graph_fill:
    case Kind::graph_unknown:
      log.graphs[record.stream].push_back(record);
      break;
    case Kind::device:
      log.devices[record.device] = {record.first, record.second};
      break;
    case Kind::lost:
      log.lost += record.bytes;
      break;
    case Kind::none:
    case Kind::count:
      break;
  }
}

void sort_by_begin(std::vector<Record>& records) {
  std::stable_sort(records.begin(), records.end(),
                   [](Record const& one, Record const& other) { return one.begin < other.begin; });
}

constexpr std::array<char const*, static_cast<std::size_t>(Call::count)> deeds{"nothing",
                                                                               "launch",
                                                                               "copy",
                                                                               "memset",
                                                                               "graph launch",
                                                                               "host function",
                                                                               "event record",
                                                                               "stream wait event",
                                                                               "event synchronize",
                                                                               "event query",
                                                                               "stream synchronize",
                                                                               "stream query",
                                                                               "device synchronize",
                                                                               "stream create",
                                                                               "stream destroy",
                                                                               "allocate",
                                                                               "free",
                                                                               "pin",
                                                                               "unpin",
                                                                               "graph instantiate",
                                                                               "module load",
                                                                               "begin capture",
                                                                               "end capture",
                                                                               "event destroy",
                                                                               "graph update"};

}  // namespace

WatchLog read_watch_log(std::span<std::byte const> bytes) {
  Header header;
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  if (bytes.size() < sizeof header || header.magic != magic)
    throw Error(ErrorKind::bad_argument,
                "This is no log of penstock watch, or one of another version. Watch the program again.");
  WatchLog log;
  log.process = header.process;
  log.parent = header.parent;
  log.program.assign(header.program.data(), strnlen(header.program.data(), header.program.size()));
  log.began = header.began;
  log.ended = header.ended;
  log.full_at = header.full_at;
  log.refusal = static_cast<Refusal>(header.refusal);
  log.refusal_code = header.refusal_code;
  log.call_totals.assign(header.calls.begin(), header.calls.end());
  log.activity_totals.assign(header.activities.begin(), header.activities.end());
  Parts names;
  for (std::size_t chunk = chunk_bytes; chunk < bytes.size(); chunk += chunk_bytes) {
    std::size_t const end = std::min(bytes.size(), chunk + chunk_bytes);
    for (std::size_t at = chunk; at + record_bytes <= end; at += record_bytes) {
      Record record;
      std::memcpy(static_cast<void*>(&record), bytes.data() + at, sizeof record);
      if (record.kind == Kind::none) break;
      take(record, log, names);
    }
  }
  for (auto const& [number, parts] : names) {
    std::string& name = log.kernel_names[number];
    for (auto const& [part, text] : parts) name += text;
    name = demangled(name);
  }
  sort_by_begin(log.calls);
  sort_by_begin(log.activities);
  for (auto& [graph, records] : log.graphs) sort_by_begin(records);
  return log;
}

std::string refusal_text(std::uint64_t refusal, std::uint64_t code) {
  using watch_log::Refusal;
  constexpr std::uint64_t privileges = 35, virtual_privileges = 40;
  switch (static_cast<Refusal>(refusal)) {
    case Refusal::no_cupti:
      return "There is no CUPTI: libcupti.so.13 and libcupti.so.12 cannot be loaded. Install the CUDA toolkit, which "
             "has it, or say by CUDA_HOME or LD_LIBRARY_PATH where it is.";
    case Refusal::cupti_is_taken:
      return "Another profiler has CUPTI in this program, which serves one at a time: end that one, or have the "
             "program not start it.";
    default:
      return "CUPTI refuses to watch, with error " + std::to_string(code) +
             (code == privileges || code == virtual_privileges
                  ? ": only administrators may profile here, see NVIDIA's NVreg_RestrictProfilingToAdminUsers."
                  : ": see cupti_result.h, and that CUPTI is not older than the driver.");
  }
}

std::string call_name(WatchLog const& log, WatchRecord const& call) {
  auto const found = log.call_names.find(call.function);
  return found != log.call_names.end() ? found->second : deeds.at(call.what);
}

std::string thread_name(WatchLog const& log, std::uint32_t thread) {
  std::string text = "thread " + std::to_string(thread);
  auto const found = log.threads.find(thread);
  if (found != log.threads.end() && !found->second.name.empty()) text += " (" + found->second.name + ")";
  return text;
}

std::string stream_name(std::uint64_t stream) {
  if (stream == legacy_stream) return "the legacy default stream";
  if (stream == per_thread_stream) return "the per-thread default stream";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "stream 0x%llx", static_cast<unsigned long long>(stream));
  return text.data();
}

}  // namespace penstock::cli
