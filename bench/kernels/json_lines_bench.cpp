// SPDX-License-Identifier: Apache-2.0
// Question: what does sum_lines take for JSON lines on two CPU threads, beside simdjson on two threads, which counts
// the same? Budget: at most 2.5 times its time. simdjson has wider instructions where the CPU has them, and checks that
// lines are UTF-8.
//
// The bench has sum_lines alone if simdjson is not installed. PENSTOCK_BENCH_MEBIBYTES is the size of the text.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#if PENSTOCK_WITH_SIMDJSON
#include <simdjson.h>
#endif

#include "engine/cpu/cpu_device.hpp"
#include "penstock/lines.hpp"

namespace penstock {
namespace {

using Groups = std::array<LineGroup, 1001>;
constexpr std::size_t threads = 2;

/// A log of lines of some 260 bytes, with as many members as such logs have.
std::string const& log_text() {
  static std::string const text = [] {
    char const* const mebibytes = std::getenv("PENSTOCK_BENCH_MEBIBYTES");
    std::size_t const bytes = (mebibytes != nullptr ? std::strtoull(mebibytes, nullptr, 10) : 256) << 20U;
    std::array<char const*, 4> const statuses{"200", "304", "404", "500"};
    std::string all;
    std::uint64_t state = 1;
    while (all.size() < bytes) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      std::string const number = std::to_string(state >> 44U);
      all.append(R"({"time": "2015-05-17T10:05:03Z", "remote": "10.0.1.2", "request": "GET /a/)").append(number);
      all.append(R"(/index.html?x=1 HTTP/1.1", "status": )").append(statuses.at(state >> 40U & 3U));
      all.append(R"(, "bytes": )").append(number);
      all.append(R"(, "agent": "Mozilla/5.0 (X11; Linux x86_64) \"like\" Gecko", "tls": {"v": "1.3", )");
      all.append(R"("ciphers": ["a", "b"]}, "took": 0.125})").append("\n");
    }
    return all;
  }();
  return text;
}
std::uint64_t bytes_added(Groups const& groups) {
  std::uint64_t all = 0;
  for (LineGroup const& group : groups) all += group.sum;
  return all;
}

void json_by_sum_lines(benchmark::State& state) {
  std::string const& text = log_text();
  cpu::CpuDevice device({.compute_threads = threads});
  Stream const stream = device.make_stream();
  DeviceMemory const input = device.allocate(text.size()), sums = device.allocate(sizeof(Groups));
  stream.upload(input.bytes().first(text.size()), std::as_bytes(std::span(text)));
  LineFields const fields{.format = LineFormat::json, .key_name = LineName("status"), .number_name = LineName("bytes")};
  Groups groups{};
  for (auto _ : state) {
    groups = {};
    stream.upload(sums.bytes().first(sizeof groups), std::as_bytes(std::span(groups)));
    sum_lines(input.bytes().first(text.size()), fields,
              DeviceSpan<std::byte>(sums.bytes()).as<LineGroup>().subspan(0, 1001), stream);
    stream.download(std::as_writable_bytes(std::span(groups)), sums.bytes().first(sizeof groups));
    stream.synchronize();
  }
  state.counters["added"] = static_cast<double>(bytes_added(groups));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(json_by_sum_lines)->UseRealTime()->Unit(benchmark::kMillisecond);

#if PENSTOCK_WITH_SIMDJSON
/// Adds the lines of a text, which readable bytes follow.
void add_lines(std::string_view text, Groups& groups) {
  simdjson::ondemand::parser parser;
  parser.threaded = false;
  simdjson::ondemand::document_stream lines;
  if (parser.iterate_many(text.data(), text.size(), simdjson::dom::DEFAULT_BATCH_SIZE).get(lines) != simdjson::SUCCESS)
    return;
  for (auto line : lines) {
    std::uint64_t key = 0, number = 0;
    bool const has_key = line["status"].get_uint64().get(key) == simdjson::SUCCESS;
    if (line["bytes"].get_uint64().get(number) != simdjson::SUCCESS) number = 0;
    LineGroup& group = groups.at(has_key && key < 1000 ? key : 1000);
    ++group.lines;
    group.sum += number;
  }
}

void json_by_simdjson(benchmark::State& state) {
  simdjson::padded_string const text(log_text());
  std::string_view const all = text;
  std::size_t const half = all.find('\n', all.size() / 2) + 1;
  std::array<Groups, threads> groups{};
  for (auto _ : state) {
    groups = {};
    std::jthread const other([&] { add_lines(all.substr(half), groups[1]); });
    add_lines(all.substr(0, half), groups[0]);
  }
  state.counters["added"] = static_cast<double>(bytes_added(groups[0]) + bytes_added(groups[1]));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(all.size()));
}
BENCHMARK(json_by_simdjson)->UseRealTime()->Unit(benchmark::kMillisecond);
#endif

}  // namespace
}  // namespace penstock

BENCHMARK_MAIN();
