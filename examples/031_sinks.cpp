// SPDX-License-Identifier: Apache-2.0
// Lines of a file through a GPU, or through the CPU where there is none, and in their order to another file, which
// takes its place at once.
#include <cstdio>
#include <string>

#include <penstock/devices.hpp>
#include <penstock/files.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/sinks.hpp>

using namespace penstock;

namespace {

constexpr int lines_in_all = 100'000;

std::string in_temporary_folder(char const* name) {
  return std::string(P_tmpdir) + "/" + name;
}

std::string text_of(int line) {
  return "line " + std::to_string(line) + "\n";
}

std::string some_lines() {
  std::string const path = in_temporary_folder("penstock_sinks.in");
  FileSink file(path);
  for (int line = 0; line < lines_in_all; ++line) file.append(text_of(line));
  file.close();
  return path;
}

/// Whether the file has all lines, in their order.
bool has_all(std::string const& path) {
  std::FILE* const file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return false;
  char text[32];
  int line = 0;
  while (std::fgets(text, sizeof text, file) != nullptr && text == text_of(line)) ++line;
  std::fclose(file);
  return line == lines_in_all;
}

}  // namespace

int main() {
  std::string const input = some_lines(), path = in_temporary_folder("penstock_sinks.out");
  auto const device = open_device();
  Pipeline pipeline(*device, {.tile = {.input_bytes = 1 << 16}, .ordered = true});
  auto const stage = on_device([](DeviceTile const&, StreamRef) {});  // Yours, on the lines that are on the device.
  FileSource source({input}, pipeline.pool(), {.framing = lines()});
  FileSink file(path, {.keeping = FileKeeping::at_once});
  Report const report = pipeline.run(source, stage, [&](TileResult<> result) {
    if (result) file.append(result.input());
  });
  file.close();

  std::printf("%llu bytes were written\n", static_cast<unsigned long long>(file.counts().written));
  bool const right = has_all(path);
  std::remove(input.c_str());
  std::remove(path.c_str());
  return report.ok() && right ? 0 : 1;
}
