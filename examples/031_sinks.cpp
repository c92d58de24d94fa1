// SPDX-License-Identifier: Apache-2.0
// Measurements of a file through a device that says which of them are alarms. The alarms go to two files, in the order
// of the input: as they are, and as a table that other programs read (Arrow).
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <penstock/egress/arrow.hpp>
#include <penstock/egress/sinks.hpp>
#include <penstock/ingest/files.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/pipeline.hpp>

using namespace penstock;

namespace {

struct Measurement {
  std::int64_t microseconds;
  std::int32_t sensor;
  float value;
};
constexpr int measurements = 1'000'000, alarm_each = 100;

std::string in_temporary_folder(char const* name) {
  return std::string(P_tmpdir) + "/" + name;
}

std::span<std::byte const> bytes_of(Measurement const& one) {
  return std::as_bytes(std::span(&one, 1));
}

std::string some_measurements() {
  std::string path = in_temporary_folder("penstock_measurements.bin");
  FileSink file(path);
  for (int k = 0; k < measurements; ++k) file.append(bytes_of({k * 10L, k % 7, k % alarm_each == 0 ? 2.0F : 0.5F}));
  file.close();
  return path;
}

/// Marks each measurement that is an alarm by a byte. It has a CPU body only: 030_own_kernel.cu shows both.
std::size_t mark_alarms(DeviceTileOf<Measurement, std::uint8_t> tile, StreamRef stream) {
  constexpr std::uint32_t blocks = 8;
  stream.launch(blocks, [input = tile.input, output = tile.output](KernelBlock block) {
    std::size_t const end = input.size() * (block + 1) / blocks;
    for (std::size_t k = input.size() * block / blocks; k < end; ++k)
      output.in(block)[k] = input.in(block)[k].value > 1;
  });
  return tile.input.size();
}

/// True if the file has all alarms, in their order.
bool has_all(std::string const& path) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  Measurement one{};
  int alarms = 0;
  while (std::fread(&one, sizeof one, 1, file) == 1 && one.microseconds == 10L * alarm_each * alarms) ++alarms;
  std::fclose(file);
  return alarms == measurements / alarm_each;
}

}  // namespace

int main(int count, char** words) try {
  std::string const input = some_measurements();
  std::string const path = in_temporary_folder("penstock_alarms.bin");
  std::string const table = count > 1 ? words[1] : in_temporary_folder("penstock_alarms.arrow");
  auto const device = open_device("cpu");
  Pipeline pipeline(*device, {.tile = tile_of<Measurement, std::uint8_t>(1 << 16), .ordered = true});
  FileSource source({input}, pipeline.pool(), {.framing = equal_records(sizeof(Measurement))});

  FileSink file(path, {.keeping = FileKeeping::at_once});
  std::vector<ArrowField> const fields{
      {.name = "time", .kind = ArrowKind::timestamp, .unit = ArrowTimeUnit::microsecond, .zone = "UTC"},
      {.name = "sensor", .kind = ArrowKind::int32},
      {.name = "value", .kind = ArrowKind::float32}};
  ArrowFile arrow(table, fields);
  ArrowBatch batch(fields);
  Report const report = pipeline.run(source, on_device(mark_alarms), [&](TileResult<std::uint8_t, Measurement> tile) {
    if (!tile) return;
    batch.clear();
    for (std::size_t k = 0; k < tile.output().size(); ++k) {
      if (tile.output()[k] == 0) continue;
      Measurement const& alarm = tile.input()[k];
      file.append(bytes_of(alarm));
      batch.column(0).append(alarm.microseconds);
      batch.column(1).append(alarm.sensor);
      batch.column(2).append(alarm.value);
    }
    arrow.append(batch);
  });
  file.close();
  arrow.close();

  std::printf("%llu bytes of alarms, %llu bytes as a table\n", static_cast<unsigned long long>(file.counts().written),
              static_cast<unsigned long long>(arrow.counts().written));
  bool const right = has_all(path);
  std::remove(input.c_str());
  std::remove(path.c_str());
  if (count < 2) std::remove(table.c_str());
  return report.ok() && right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
