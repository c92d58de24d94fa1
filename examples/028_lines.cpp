// SPDX-License-Identifier: Apache-2.0
// Lines of files through a GPU, or through the CPU where there is none: how many lines have a word, and which is the
// first.
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/ingest/files.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/pipeline.hpp>

using namespace penstock;

namespace {

std::string_view text_of(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

/// A file to look at: 100,000 lines, of which each hundredth says "error".
std::string some_log() {
  std::string path = std::string(P_tmpdir) + "/penstock_lines.log";
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return path;
  for (int line = 1; line <= 100'000; ++line) {
    std::fprintf(file, "%06d %s\n", line, line % 100 == 0 ? "error: no answer" : "all is well");
  }
  std::fclose(file);
  return path;
}

}  // namespace

int main(int count, char** words) {
  bool const own = count < 2;
  if (count == 2) {
    std::printf("usage: %s [WORD FILE...]\n", words[0]);
    return 2;
  }
  std::string const word = own ? "error" : words[1];
  std::vector<std::string> const paths =
      own ? std::vector{some_log()} : std::vector<std::string>(words + 2, words + count);

  auto const device = open_device();
  Pipeline pipeline(*device, {.tile = {.input_bytes = 1 << 20}, .ordered = true});
  auto const stage = on_device([](DeviceTile const&, StreamRef) {});  // Yours, on the lines that are on the device.
  std::uint64_t lines_in_all = 0, with_word = 0;
  std::optional<std::string> first;
  FileSource source(paths, pipeline.pool(), {.framing = lines(), .decompress = true});
  Report const report = pipeline.run(source, stage, [&](TileResult<> result) {
    if (!result.ok()) return void(std::printf("%s\n", result.problem().c_str()));
    // No line is cut between two tiles.
    each_record(*lines(), result.input(), [&](std::span<std::byte const> line) {
      ++lines_in_all;
      if (text_of(line).find(word) == std::string_view::npos) return;
      if (with_word++ == 0) first = text_of(line);
    });
  });

  std::printf("%llu of %llu lines have \"%s\"; the first is %s", static_cast<unsigned long long>(with_word),
              static_cast<unsigned long long>(lines_in_all), word.c_str(), first.value_or("none\n").c_str());
  for (std::string const& remark : report.remarks) std::printf("%s\n", remark.c_str());
  bool const right = !own || (lines_in_all == 100'000 && with_word == 1000 && first == "000100 error: no answer\n");
  if (own) std::remove(paths.front().c_str());
  return report.ok() && right ? 0 : 1;
}
