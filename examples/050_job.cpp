// SPDX-License-Identifier: Apache-2.0
// A job: how often each byte occurs in files, and how small they could be. It has run, bench, compare, tune and watch.
#include <array>
#include <cmath>

#include <penstock/ingest/files.hpp>
#include <penstock/job.hpp>
#include <penstock/kernels.hpp>

using namespace penstock;
using Histogram = std::array<std::uint64_t, 256>;

class CountBytes final : public Stage {  // Each lane counts on its device.
 public:
  explicit CountBytes(StageContext const& context) : memory_(context.device.allocate(sizeof(Histogram))) {}
  void prepare(StreamRef stream) override {
    stream.upload(memory_.bytes(), std::as_bytes(std::span(counts)));
    count_bytes_prepare(stream);
  }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    count_bytes(tile.input, DeviceSpan<std::byte>(memory_.bytes()).as<std::uint64_t>(), stream);
    return 0;  // Nothing to bring back for a tile.
  }
  void finish(StreamRef stream) override {
    stream.download(std::as_writable_bytes(std::span(counts)), memory_.bytes());
  }
  Histogram counts{};

 private:
  DeviceMemory memory_;
};

std::string text_of(Histogram const& counts) {
  double bytes = 0, bits = 0;
  for (std::uint64_t const n : counts) bytes += static_cast<double>(n);
  for (auto const n : counts) bits -= n == 0 ? 0 : static_cast<double>(n) * std::log2(static_cast<double>(n) / bytes);
  return std::to_string(std::llround(bytes)) + " bytes, compressed " + std::to_string(std::llround(bits / 8)) + "\n";
}

JobWork count_files(JobPoint const& point) {
  auto const all = std::make_shared<Histogram>();  // Each run has its own counts.
  return {.source =
              [paths = point.values.texts("input"), stop = point.stop](Pool const& pool) {
                return std::make_unique<FileSource>(paths, pool, FileSourceOptions{.stop = stop});
              },
          .stages = stage_per_lane<CountBytes>([all](CountBytes& lane) {
            for (std::size_t value = 0; value < all->size(); ++value) (*all)[value] += lane.counts[value];
          }),
          .digest = [all] { return digest_of_bytes(std::as_bytes(std::span(*all))); },
          .results = [all] { return text_of(*all); }};
}

int main(int count, char** arguments) {
  return run_job(count, arguments,
                 {.sentence = "Counts the bytes of files",
                  .options = {files_option("input", "The files")},
                  .make = count_files,
                  .alone = [](JobPoint const&) { return Alone{.stage = true}; },  // Any bytes will do.
                  .parallel_sink = true});                                        // It has no sink.
}
