// SPDX-License-Identifier: Apache-2.0
// A job: replies of aircraft in samples of 1090 MHz. `radio run --input capture.bin` prints each frame of Mode S as
// programs for such receivers do, `*8D4840D6202CC371C32CE0576098;`, and then how many of each kind there were.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <penstock/elements.hpp>
#include <penstock/error.hpp>
#include <penstock/files.hpp>
#include <penstock/framing.hpp>
#include <penstock/job.hpp>
#include <penstock/mode_s.hpp>

using namespace penstock;

namespace {

constexpr std::size_t sample_bytes = 2;
constexpr std::uint64_t samples_a_second = 2'000'000;

/// With large tiles of pages, so that their pieces of a file begin with a page as well.
std::size_t overlap_of(std::size_t tile_bytes) {
  constexpr std::size_t page = 4096;
  return tile_bytes % page == 0 && tile_bytes >= 16 * page ? page : sample_bytes * mode_s_long_samples;
}

class FindFrames final : public Stage {
 public:
  explicit FindFrames(StageContext const& context)
      : multiprocessors_(context.spare == 0 ? 0 : context.multiprocessors()) {}
  Promises promises() const noexcept override { return {.reads_once = true, .capturable = true}; }
  void prepare(StreamRef stream) override { find_mode_s_prepare(stream); }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    auto const blocks = tile.output.as<ModeSBlock>();
    // Measured alone, a tile is a few bytes at times, and its output is no larger: there is nothing to be found.
    if (blocks.empty()) return 0;
    find_mode_s(tile.input, blocks, stream, multiprocessors_);
    return mode_s_blocks(tile.input.size()) * sizeof(ModeSBlock);
  }

 private:
  unsigned const multiprocessors_;
};

std::span<ModeSBlock const> blocks_of(Completion const& tile) {
  return tile.ok() ? elements<ModeSBlock>(tile.loan->produced_output()) : std::span<ModeSBlock const>();
}

JobWork listen(JobPoint const& point) {
  std::size_t const overlap = overlap_of(point.tile_bytes);
  auto const make_receiver = [samples = overlap / sample_bytes, offsets = point.values.text("offsets") == "yes"] {
    return ModeSReceiver(samples, offsets);
  };
  auto const receiver = std::make_shared<ModeSReceiver>(make_receiver());
  auto const results = [receiver] {
    receiver->finish();
    return receiver->lines() + receiver->summary();
  };
  return {.source =
              [path = point.values.text("input"), stop = point.stop, overlap](Pool const& pool) {
                return std::make_unique<FileSource>(
                    std::vector{path}, pool,
                    FileSourceOptions{.stop = stop, .framing = equal_records(sample_bytes), .overlap = overlap});
              },
          .stages = stage_per_lane<FindFrames>(),
          .sink =
              [receiver, make_receiver](Completion& tile) {
                if (tile.loan->sequence == 0) *receiver = make_receiver();  // A measurement begins again.
                receiver->take(tile.loan->filled / sample_bytes, blocks_of(tile));
              },
          .digest =
              [results] {
                std::string const text = results();
                return digest_of_bytes(std::as_bytes(std::span(text)));
              },
          .results = results};
}

TileShape shape_of(JobPoint const& point) {
  if (point.tile_bytes % sample_bytes != 0 || point.tile_bytes < 4 * sample_bytes * mode_s_long_samples) {
    throw Error(ErrorKind::bad_argument,
                "a tile has whole samples of 2 bytes, 960 at least: give it 1920 bytes or more");
  }
  return {.input_bytes = point.tile_bytes, .output_bytes = mode_s_blocks(point.tile_bytes) * sizeof(ModeSBlock)};
}

}  // namespace

int main(int count, char** arguments) {
  return run_job(count, arguments,
                 {.sentence = "Prints the frames of Mode S in samples of 1090 MHz, 8-bit I and Q at 2 Msps",
                  .options = {file_option("input", "The samples"),
                              word_option("offsets", "Print the sample at which each frame begins", {"no", "yes"})},
                  .shape = shape_of,
                  .make = listen,
                  .alone = [](JobPoint const&) { return Alone{.stage = true}; },  // Any bytes will do.
                  .ordered = true});
}
