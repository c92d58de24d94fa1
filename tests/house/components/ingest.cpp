// SPDX-License-Identifier: Apache-2.0
// Brings this program, as a file, through the CPU device: the engine and the component ingest.
#include <cstdint>
#include <cstdio>
#include <filesystem>

#include <penstock/ingest/files.hpp>
#include <penstock/named_devices.hpp>
#include <penstock/pipeline.hpp>

using namespace penstock;

int main(int, char** words) {
  auto const device = open_device("cpu", {});
  Pipeline pipeline(*device, {.tile = {.input_bytes = 65536}, .tuning = {.bind = Bind::none}});
  FileSource source({words[0]}, pipeline.pool());
  std::uintmax_t bytes = 0;
  auto const report = pipeline.run(source, on_device([](DeviceTile const&, StreamRef) {}),
                                   [&](Completion const& completion) { bytes += completion.loan->filled; });
  std::printf("%ju bytes of %s are read\n", bytes, words[0]);
  return report.ok() && bytes == std::filesystem::file_size(words[0]) ? 0 : 1;
}
