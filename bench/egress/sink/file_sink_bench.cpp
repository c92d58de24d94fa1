// SPDX-License-Identifier: Apache-2.0
// What does a FileSink cost beside std::fwrite with a buffer as large? It may cost a fifth more CPU time, for records
// from 16 bytes on. And which size of a piece is best? The default must be within a tenth of that.
//
// PENSTOCK_BENCH_FOLDER is the folder of the file; default: that of temporary files.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/machine/host_limits.hpp"
#include "penstock/egress/sinks.hpp"

namespace penstock {
namespace {

constexpr std::size_t file_bytes = std::size_t{64} << 20;

std::string path() {
  char const* const folder = std::getenv("PENSTOCK_BENCH_FOLDER");
  std::filesystem::path const where = folder != nullptr ? folder : std::filesystem::temp_directory_path();
  return where / "penstock_file_sink_bench";
}

/// Axes: bytes of a record, KiB of a piece.
template <class Write>
void measure(benchmark::State& state, Write write) {
  std::string const record(static_cast<std::size_t>(state.range(0)), 'r');
  auto const piece = static_cast<std::size_t>(state.range(1)) << 10;
  double cpu = 0;
  for (auto _ : state) {
    double const before = cpu_seconds();
    write(record, file_bytes / record.size(), piece);
    cpu += cpu_seconds() - before;
    state.PauseTiming();
    std::filesystem::remove(path());
    state.ResumeTiming();
  }
  double const bytes = double(file_bytes) * double(state.iterations());
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.counters["cpu_s_per_GB"] = cpu / bytes * 1e9;
}

void by_sink(std::string const& record, std::size_t count, std::size_t piece) {
  FileSink file(path(), {.writing = {.piece_bytes = piece}});
  for (std::size_t k = 0; k < count; ++k) file.append(record);
  file.close();
}

void by_fwrite(std::string const& record, std::size_t count, std::size_t piece) {
  std::FILE* const file = std::fopen(path().c_str(), "w");
  if (file == nullptr) return;
  std::vector<char> buffer(piece);
  std::setvbuf(file, buffer.data(), _IOFBF, buffer.size());
  for (std::size_t k = 0; k < count; ++k) std::fwrite(record.data(), 1, record.size(), file);
  std::fclose(file);
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"record", "KiB"})->UseRealTime()->Unit(benchmark::kMillisecond);
  for (int const record : {16, 100, 1000, 1 << 20}) bench->Args({record, 1024});
  for (int const piece : {4, 64, 256, 4096}) bench->Args({100, piece});
}
BENCHMARK_CAPTURE(measure, FileSink, by_sink)->Apply(sizes);
BENCHMARK_CAPTURE(measure, fwrite, by_fwrite)->Apply(sizes);

}  // namespace
}  // namespace penstock

BENCHMARK_MAIN();
