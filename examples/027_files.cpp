// SPDX-License-Identifier: Apache-2.0
// Files through a GPU, or through the CPU where there is none: how many bytes each had.
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <penstock/ingest/files.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/pipeline.hpp>

using namespace penstock;

int main(int count, char** words) {
  std::vector<std::string> paths(words + 1, words + count);
  if (paths.empty()) paths.emplace_back("/proc/self/exe");  // This program, then.
  std::vector<std::size_t> bytes(paths.size());

  auto const device = open_device();
  Pipeline pipeline(*device, {.tile = {.input_bytes = 4 << 20}});
  auto const stage = on_device([](DeviceTile const&, StreamRef) {});  // Put your work on the device's tile here.
  auto const sink = [&](TileResult<> result) {
    // A file that cannot be read yields an error here; the others go on.
    if (!result.ok()) return void(std::printf("%s\n", result.problem().c_str()));
    bytes[result.tag()] += result.input().size();  // The tag is the number of the file.
  };

  FileSource source(paths, pipeline.pool());
  Report const report = pipeline.run(source, stage, sink);

  bool right = report.ok();
  for (std::size_t k = 0; k < paths.size(); ++k) {
    std::printf("%12zu  %s\n", bytes[k], paths[k].c_str());
    std::error_code unknown;
    right = right && bytes[k] == std::filesystem::file_size(paths[k], unknown);
  }
  for (std::string const& remark : report.remarks) std::printf("%s\n", remark.c_str());
  return right ? 0 : 1;
}
