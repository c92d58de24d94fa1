// SPDX-License-Identifier: Apache-2.0
// A job: replies of aircraft in samples of 1090 MHz. `radio run --input capture.bin` prints each frame of Mode S when
// its tile is done, `*8D4840D6202CC371C32CE0576098;`, and then how many of each kind there were. With `--waterfall
// FILE` a picture has the power by frequency over time.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "listener.hpp"
#include <penstock/error.hpp>
#include <penstock/ingest/files.hpp>
#include <penstock/ingest/framing.hpp>
#include <penstock/job.hpp>
#include <penstock/radio.hpp>

using namespace penstock;

namespace {

class Listen final : public Stage {
 public:
  Listen(StageContext const& context, JobPoint point)
      : point_(std::move(point)), multiprocessors_(context.spare == 0 ? 0 : context.multiprocessors()) {}
  Promises promises() const noexcept override { return {.reads_once = !has_waterfall(point_), .capturable = true}; }
  void prepare(StreamRef stream) override {
    find_mode_s_prepare(stream);
    if (has_waterfall(point_)) sum_spectra_prepare(stream);
  }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    TileResults const results(tile.input.size(), point_);
    // A tile that is measured alone sometimes has only a few bytes, and its output is no larger: there is nothing to
    // find.
    if (tile.output.size() < results.bytes) return 0;
    find_mode_s(tile.input, tile.output.as<ModeSBlock>(), stream, multiprocessors_);
    sum_spectra(tile.input.first(sample_bytes * results.samples), tile.output.subspan(results.frame_bytes).as<float>(),
                spectrum, stream, multiprocessors_);
    return results.bytes;
  }

 private:
  JobPoint const point_;
  unsigned const multiprocessors_;
};

JobWork listen(JobPoint const& point) {
  auto const listener = std::make_shared<RadioListener>(point);
  FileSourceOptions const reading{.stop = point.stop,
                                  .framing = equal_records(sample_bytes),
                                  .overlap = sample_bytes * overlap_of(point),
                                  .decompress = true};
  return {.source = [path = point.values.text("input"), reading](
                        Pool const& pool) { return std::make_unique<FileSource>(std::vector{path}, pool, reading); },
          .stages =
              Stages{.make = [point](StageContext const& context) { return std::make_unique<Listen>(context, point); }},
          .sink = [listener](Completion& done) { listener->take(done); },
          .digest = [listener] { return listener->digest(); },
          .results = [listener] { return listener->results(); },
          .lines_so_far = [listener] { return listener->lines(); },
          .remarks = [listener] { return listener->remarks(); },
          .left_out = [listener] { return listener->left_out(); }};
}

TileShape shape_of(JobPoint const& point) {
  if (point.tile_bytes % sample_bytes != 0 || point.tile_bytes < 4 * sample_bytes * mode_s_long_samples) {
    throw Error(ErrorKind::bad_argument,
                "a tile has whole samples of 2 bytes, 960 at least: give it 1920 bytes or more");
  }
  return {.input_bytes = point.tile_bytes, .output_bytes = TileResults(point.tile_bytes, point).bytes};
}

}  // namespace

int main(int count, char** arguments) {
  return run_job(
      count, arguments,
      {.sentence = "Prints the frames of Mode S in samples of 1090 MHz, 8-bit I and Q at 2 Msps",
       .options = {file_option("input", "The samples"),
                   word_option("offsets", "Print the sample at which each frame begins", {"no", "yes"}),
                   output_option("waterfall", "Where a picture of power by frequency over time goes, .png or .ppm")},
       .shape = shape_of,
       .make = listen,
       .alone = [](JobPoint const&) { return Alone{.stage = true}; },  // Any bytes will do.
       .ordered = true});
}
