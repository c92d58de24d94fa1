// SPDX-License-Identifier: Apache-2.0
// Results that the job `radio` makes of its tiles: lines of frames, a digest of all of them, and a picture.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/elements.hpp>
#include <penstock/job.hpp>
#include <penstock/radio.hpp>

namespace penstock {

inline constexpr std::size_t sample_bytes = 2;
inline constexpr SpectrumForm spectrum;

/// Number of samples that are at the end of a tile and at the beginning of the next one. With large tiles of pages it
/// is a page, so that their pieces of a file begin with a page as well.
inline std::size_t overlap_of(JobPoint const& point) {
  constexpr std::size_t page = 4096;
  bool const pages = point.tile_bytes % page == 0 && point.tile_bytes >= 16 * page;
  return pages ? page / sample_bytes : mode_s_long_samples;
}

inline bool has_waterfall(JobPoint const& point) {
  return !point.values.text("waterfall").empty();
}

/// Results of a tile: its frames, and with a waterfall behind them spectra of the samples that are its own.
struct TileResults {
  TileResults(std::size_t bytes, JobPoint const& point)
      : frame_bytes(mode_s_blocks(bytes) * sizeof(ModeSBlock)),
        samples(has_waterfall(point) ? spectrum.samples_of_tile(bytes / sample_bytes, overlap_of(point)) : 0),
        bytes(frame_bytes + spectrum.spectra_of(samples) * spectrum.points * sizeof(float)) {}
  std::size_t frame_bytes, samples, bytes;
};

/// Collects the results of a run.
class RadioListener {
 public:
  explicit RadioListener(JobPoint const& point) : point_(point) {
    if (has_waterfall(point) && !point.measured) picture_.emplace(point.values.text("waterfall"));
  }
  void take(Completion const& done) {
    Tile const& tile = *done.loan;
    if (tile.sequence == 0) {  // A measurement begins several times.
      digest_ = digest_of_nothing;
      samples_ = 0;
      receiver_ = ModeSReceiver(overlap_of(point_), point_.values.text("offsets") == "yes");
      waterfall_ = Waterfall(spectrum);
    }
    std::uint64_t const filled = done.ok() ? tile.filled / sample_bytes : 0;
    samples_ += filled - std::min({filled, samples_, std::uint64_t{overlap_of(point_)}});  // The others were in the
                                                                                           // tile before.
    TileResults const results(done.ok() ? tile.filled : 0, point_);
    auto const bytes = done.ok() ? tile.produced_output() : std::span<std::byte const>();
    receiver_.take(tile.filled / sample_bytes, elements<ModeSBlock>(bytes.first(results.frame_bytes)));
    waterfall_.add(elements<float>(bytes.subspan(results.frame_bytes)), results.samples);
    if (done.outcome == Outcome::cancelled) picture_.reset();
  }
  /// The lines of frames since the last call.
  std::string lines() {
    std::string lines = receiver_.take_lines();
    heard_ = heard_ || !lines.empty();
    digest_ = digest_of_bytes(std::as_bytes(std::span(lines)), digest_);
    return lines;
  }
  /// Writes the picture, too.
  std::string results() {
    if (picture_ && waterfall_.rows() != 0) picture_->write(spectrum.points, waterfall_.levels());
    receiver_.finish();
    heard_ = heard_ || !receiver_.lines().empty();
    return receiver_.lines() + receiver_.summary();
  }
  /// Sentences on what may be wrong with the input. Follows `results`.
  std::vector<std::string> remarks() const {
    std::vector<std::string> all;
    if (!heard_ && samples_ != 0) {
      all.emplace_back("No frame was found in " + std::to_string(samples_) + (samples_ == 1 ? " sample" : " samples") +
                       ". The input must be samples of 1090 MHz, two million in a second: a byte of I and a byte of Q "
                       "for each, unsigned, and nothing else.");
    }
    if (picture_ && waterfall_.rows() == 0) {
      all.emplace_back("No picture was written, as the input has too few samples for a row of it: " +
                       std::to_string(spectrum.points) + " are the least, and " + std::to_string(samples_) + " came.");
    }
    return all;
  }
  /// Follows `results`.
  std::vector<LeftOut> left_out() const {
    std::vector<LeftOut> all;
    LeftOut const lost{.unit = "frame", .reason = "where too many begin side by side", .count = receiver_.lost()};
    add_left_out(all, std::span(&lost, 1));
    return all;
  }
  std::uint64_t digest() {
    receiver_.finish();
    std::string const rest = receiver_.lines() + receiver_.summary();
    return digest_of_bytes(std::as_bytes(std::span(rest)), digest_);
  }

 private:
  JobPoint const point_;
  std::uint64_t digest_ = digest_of_nothing;  ///< Digest of the lines that were given away.
  std::uint64_t samples_ = 0;
  bool heard_ = false;
  ModeSReceiver receiver_{0};
  Waterfall waterfall_{spectrum};
  std::optional<PictureFile> picture_;
};

}  // namespace penstock
