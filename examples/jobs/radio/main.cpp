// SPDX-License-Identifier: Apache-2.0
// A job: replies of aircraft in samples of 1090 MHz. `radio run --input capture.bin` prints each frame of Mode S as
// programs for such receivers do, `*8D4840D6202CC371C32CE0576098;`, and then how many of each kind there were.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

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

/// Takes what each tile has, in the order of the input, and keeps what is a frame for sure: each once.
class Receiver {
 public:
  Receiver(std::size_t overlap, bool offsets) : overlap_(overlap), offsets_(offsets) {}

  void take(Tile const& tile, bool ok) {
    if (tile.sequence == 0) *this = Receiver(overlap_, offsets_);  // A measurement begins again.
    // What begins where the next tile will begin again is that one's, if there is one.
    next_tile_.clear();
    std::uint64_t const first = end_ - std::min<std::uint64_t>(end_, overlap_), end = first + tile.filled;
    std::uint64_t const own_end = end - std::min<std::uint64_t>(end, overlap_);
    for (ModeSBlock const& block : ok ? blocks_of(tile) : std::span<ModeSBlock const>()) {
      auto const kept = block.kept();
      sorted_.assign(kept.begin(), kept.end());
      std::ranges::sort(sorted_, {}, &ModeSFrame::begin);
      for (ModeSFrame const& frame : sorted_) {
        Heard const heard{(first + sample_bytes * frame.sample) / sample_bytes, frame};
        if (heard.sample * sample_bytes < own_end) {
          hear(heard);
        } else {
          next_tile_.push_back(heard);
        }
      }
      lost_ += block.found - kept.size();
    }
    end_ = end;
  }
  /// There is no other tile.
  void finish() {
    for (Heard const& heard : next_tile_) hear(heard);
    next_tile_.clear();
    if (between_) judge(*between_);
    between_.reset();
  }

  std::string text() const {
    std::string text = lines_;
    std::uint64_t all = 0;
    for (std::size_t format = 0; format < formats_.size(); ++format) {
      if (formats_[format] == 0) continue;
      text += "# DF" + std::to_string(format) + " " + std::to_string(formats_[format]) + "\n";
      all += formats_[format];
    }
    text += "# frames " + std::to_string(all) + ", aircraft " + std::to_string(known_.size()) + "\n";
    if (lost_ != 0) text += "# lost: " + std::to_string(lost_) + ", where too many began side by side\n";
    return text;
  }

 private:
  struct Heard {
    std::uint64_t sample = 0;  ///< Of the input.
    ModeSFrame frame;
  };

  static std::span<ModeSBlock const> blocks_of(Tile const& tile) {
    auto const bytes = tile.produced_output();
    return {reinterpret_cast<ModeSBlock const*>(bytes.data()), bytes.size() / sizeof(ModeSBlock)};
  }
  /// One that begins between samples is heard in the next sample as well at times, and is then said to be there.
  void hear(Heard const& heard) {
    bool const whole = heard.frame.between == 0;
    bool const again =
        between_ && whole && heard.sample == between_->sample + 1 && heard.frame.bytes == between_->frame.bytes;
    if (between_ && !again) judge(*between_);
    between_.reset();
    if (whole) {
      judge(heard);
    } else {
      between_ = heard;
    }
  }
  void judge(Heard const& heard) {
    // A reply reads as a frame in two places at times, or in a part of itself.
    if (heard.sample < silent_until_) return;
    std::uint32_t const remainder = heard.frame.remainder();
    unsigned const format = heard.frame.format();
    bool const names_itself = format == 11 || format == 17 || format == 18;
    if (names_itself && remainder == 0) {
      if (format != 18) known_[heard.frame.address()] = heard.sample;
    } else {
      // The parity has an interrogator's code or the address beside it: it is right if the aircraft is known.
      auto const found = known_.find(names_itself ? heard.frame.address() : remainder);
      if (found == known_.end() || heard.sample - found->second > 60 * samples_a_second) return;
    }
    silent_until_ = heard.sample + 16 + 16 * std::uint64_t{heard.frame.length};
    ++formats_.at(format);
    print(heard);
  }
  void print(Heard const& heard) {
    constexpr char digits[] = "0123456789ABCDEF";
    if (offsets_) lines_ += std::to_string(heard.sample) + " ";
    std::array<char, 2 * sizeof heard.frame.bytes + 3> line{'*'};
    std::size_t end = 1;
    for (std::size_t k = 0; k < heard.frame.length; ++k) {
      line[end++] = digits[heard.frame.bytes[k] / 16];
      line[end++] = digits[heard.frame.bytes[k] % 16];
    }
    line[end++] = ';';
    line[end++] = '\n';
    lines_.append(line.data(), end);
  }

  std::size_t overlap_;
  bool offsets_;
  std::uint64_t end_ = 0;  ///< Bytes of the input so far.
  std::uint64_t silent_until_ = 0;
  std::uint64_t lost_ = 0;
  std::vector<Heard> next_tile_;
  std::optional<Heard> between_;
  std::vector<ModeSFrame> sorted_;
  std::unordered_map<std::uint32_t, std::uint64_t> known_;  ///< When an aircraft named itself last.
  std::array<std::uint64_t, 32> formats_{};
  std::string lines_;
};

JobWork listen(JobPoint const& point) {
  std::size_t const overlap = overlap_of(point.tile_bytes);
  auto const receiver = std::make_shared<Receiver>(overlap, point.values.text("offsets") == "yes");
  auto const results = [receiver] {
    receiver->finish();
    return receiver->text();
  };
  return {.source =
              [path = point.values.text("input"), stop = point.stop, overlap](Pool const& pool) {
                return std::make_unique<FileSource>(
                    std::vector{path}, pool,
                    FileSourceOptions{
                        .stop = stop, .framing = equal_records(sample_bytes), .overlap = overlap, .decompress = true});
              },
          .stages = stage_per_lane<FindFrames>(),
          .sink = [receiver](Completion& completion) { receiver->take(*completion.loan, completion.ok()); },
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
