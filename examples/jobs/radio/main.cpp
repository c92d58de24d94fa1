// SPDX-License-Identifier: Apache-2.0
// A job: replies of aircraft in samples of 1090 MHz. `radio run --input capture.bin` prints each frame of Mode S as
// programs for such receivers do, `*8D4840D6202CC371C32CE0576098;`, and then how many of each kind there were. With
// `--waterfall FILE` a picture has the power by frequency over time.
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/elements.hpp>
#include <penstock/error.hpp>
#include <penstock/files.hpp>
#include <penstock/framing.hpp>
#include <penstock/job.hpp>
#include <penstock/mode_s.hpp>
#include <penstock/picture.hpp>
#include <penstock/waterfall.hpp>

using namespace penstock;

namespace {

constexpr std::size_t sample_bytes = 2;
constexpr SpectrumForm spectrum;

/// So many samples are at the end of a tile and at the beginning of the next one. With large tiles of pages it is a
/// page, so that their pieces of a file begin with a page as well.
std::size_t overlap_of(JobPoint const& point) {
  constexpr std::size_t page = 4096;
  bool const pages = point.tile_bytes % page == 0 && point.tile_bytes >= 16 * page;
  return pages ? page / sample_bytes : mode_s_long_samples;
}

bool has_waterfall(JobPoint const& point) {
  return !point.values.text("waterfall").empty();
}

/// What is made of a tile: its frames, and with a waterfall behind them spectra of the samples that are its own.
struct TileResults {
  TileResults(std::size_t bytes, JobPoint const& point)
      : frame_bytes(mode_s_blocks(bytes) * sizeof(ModeSBlock)),
        samples(has_waterfall(point) ? spectrum.samples_of_tile(bytes / sample_bytes, overlap_of(point)) : 0),
        bytes(frame_bytes + spectrum.spectra_of(samples) * spectrum.points * sizeof(float)) {}
  std::size_t frame_bytes, samples, bytes;
};

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
    // Measured alone, a tile is a few bytes at times, and its output is no larger: there is nothing to be found.
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

/// What a run hears.
class Listener {
 public:
  explicit Listener(JobPoint const& point) : point_(point) {
    bool const measured = !point.stop.stop_possible();  // Which writes no picture.
    if (has_waterfall(point) && !measured) picture_.emplace(point.values.text("waterfall"));
  }
  void take(Completion const& done) {
    Tile const& tile = *done.loan;
    if (tile.sequence == 0) {  // A measurement begins again and again.
      receiver_ = ModeSReceiver(overlap_of(point_), point_.values.text("offsets") == "yes");
      waterfall_ = Waterfall(spectrum);
    }
    TileResults const results(done.ok() ? tile.filled : 0, point_);
    auto const bytes = done.ok() ? tile.produced_output() : std::span<std::byte const>();
    receiver_.take(tile.filled / sample_bytes, elements<ModeSBlock>(bytes.first(results.frame_bytes)));
    waterfall_.add(elements<float>(bytes.subspan(results.frame_bytes)), results.samples);
    if (done.outcome == Outcome::cancelled) picture_.reset();
  }
  std::string text() {
    receiver_.finish();
    return receiver_.lines() + receiver_.summary();
  }
  /// Writes the picture, too.
  std::string results() {
    if (picture_ && waterfall_.rows() != 0) picture_->write(spectrum.points, waterfall_.levels());
    return text();
  }

 private:
  JobPoint const point_;
  ModeSReceiver receiver_{0};
  Waterfall waterfall_{spectrum};
  std::optional<PictureFile> picture_;
};

JobWork listen(JobPoint const& point) {
  auto const listener = std::make_shared<Listener>(point);
  FileSourceOptions const reading{.stop = point.stop,
                                  .framing = equal_records(sample_bytes),
                                  .overlap = sample_bytes * overlap_of(point),
                                  .decompress = true};
  return {.source = [path = point.values.text("input"), reading](
                        Pool const& pool) { return std::make_unique<FileSource>(std::vector{path}, pool, reading); },
          .stages = {.make = [point](StageContext const& context) { return std::make_unique<Listen>(context, point); }},
          .sink = [listener](Completion& done) { listener->take(done); },
          .digest =
              [listener] {
                std::string const text = listener->text();
                return digest_of_bytes(std::as_bytes(std::span(text)));
              },
          .results = [listener] { return listener->results(); }};
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
  return run_job(count, arguments,
                 {.sentence = "Prints the frames of Mode S in samples of 1090 MHz, 8-bit I and Q at 2 Msps",
                  .options = {file_option("input", "The samples"),
                              word_option("offsets", "Print the sample at which each frame begins", {"no", "yes"}),
                              {.name = "waterfall",
                               .sentence = "Where a picture of power by frequency over time goes, .png or .ppm",
                               .type = "FILE",
                               .listed = false}},
                  .shape = shape_of,
                  .make = listen,
                  .alone = [](JobPoint const&) { return Alone{.stage = true}; },  // Any bytes will do.
                  .ordered = true});
}
