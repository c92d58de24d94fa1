// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/path_chooser.hpp"

#include <algorithm>
#include <bit>

namespace penstock {

using std::chrono::nanoseconds;

namespace {

/// Longer than any time but that of a failure.
constexpr nanoseconds some_time = nanoseconds::max() - nanoseconds(1);

constexpr std::size_t index_of(TransferPath path) noexcept {
  return static_cast<std::size_t>(path);
}

}  // namespace

TransferPath PathTimes::choose(std::size_t bytes) noexcept {
  Tried& of = tried(bytes);
  if (of.warmed < warm_up) return TransferPath::mapped;
  if (of.best) return *of.best;

  constexpr std::size_t mapped = index_of(TransferPath::mapped), copied = index_of(TransferPath::copied);
  unsigned const round = std::min(of.counts[mapped], of.counts[copied]);
  if (round < samples) return of.turn(round);

  of.best = median(of.most[copied]) < median(of.least[mapped]) ? TransferPath::copied : TransferPath::mapped;
  return *of.best;
}

/// Forth in one round and back in the next, ABBA: if every other batch of a size is heavy, each path gets as many heavy
/// batches as the other.
TransferPath PathTimes::Tried::turn(unsigned round) const noexcept {
  bool const mapped_is_due = counts[index_of(TransferPath::mapped)] == round;
  bool const copied_is_due = counts[index_of(TransferPath::copied)] == round;
  bool const back = round % 2 == 1;
  return mapped_is_due && !(back && copied_is_due) ? TransferPath::mapped : TransferPath::copied;
}

void PathTimes::took(std::size_t bytes, TransferPath path, nanoseconds time) noexcept {
  note(bytes, path, time, time);
}

void PathTimes::took_longer(std::size_t bytes, TransferPath path, nanoseconds than) noexcept {
  note(bytes, path, than, some_time);
}

void PathTimes::note(std::size_t bytes, TransferPath path, nanoseconds at_least, nanoseconds at_most) noexcept {
  Tried& of = tried(bytes);
  if (of.warmed < warm_up) {
    ++of.warmed;
    return;
  }
  unsigned& count = of.counts[index_of(path)];
  if (count == samples) return;
  of.least[index_of(path)][count] = at_least;
  of.most[index_of(path)][count++] = at_most;
}

/// Among so many times a single one that was delayed has no effect.
nanoseconds PathTimes::median(Times& times) noexcept {
  auto const middle = times.begin() + samples / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

PathTimes::Tried& PathTimes::tried(std::size_t bytes) noexcept {
  return sizes_[static_cast<std::size_t>(std::bit_width(std::min(bytes, most_bytes)))];
}

std::optional<TileParts> MappedTiles::find(Tile const& tile) {
  if (tile.index() >= tiles_.size()) return std::nullopt;
  Known& known = tiles_[tile.index()];
  if (!known.asked) {
    known.parts = see(tile);
    known.asked = true;
  }
  return known.parts;
}

std::optional<TileParts> MappedTiles::see(Tile const& tile) {
  auto const input = device_.mapped(tile.input());
  auto const output = device_.mapped(tile.output());
  if (!input || !output) return std::nullopt;
  TileParts parts{.input = *input, .output = *output};
  for (std::size_t i = 0; i < parts.more_inputs.size(); ++i) {
    auto const more = device_.mapped(tile.input(i + 1));
    if (!more) return std::nullopt;
    parts.more_inputs[i] = *more;
  }
  return parts;
}

PathChooser::PathChooser(Device& device, Transport transport, std::size_t bound, TileShape shape, std::size_t tiles)
    : transport_(transport),
      bound_(bound),
      shape_(shape),
      more_inputs_(shape.more_inputs()),
      pool_(device, transport == Transport::copies ? 0 : tiles) {}

/// Mapped tiles may be in flight with this batch, as long as they are few: they run one after the other.
TransferPath PathChooser::choose(std::span<Loan const> loans, Stage const& stage, std::uint64_t put,
                                 std::uint64_t retired) {
  lone_bytes_ = 0;
  path_ = TransferPath::copied;
  if (transport_ == Transport::mapped) return path_ = TransferPath::mapped;
  std::size_t const bytes = bytes_of(loans);
  bool const all = bound_ == unbounded_mapped_bytes;
  bool const fits = all || mapped_bytes_ + bytes <= bound_;
  if (fits && youngest_copied_ <= retired && may_be_mapped(loans, stage)) {
    bool const alone = put == retired;
    if (all || !alone) {
      path_ = TransferPath::mapped;
    } else {
      path_ = times_.choose(bytes);
      lone_bytes_ = bytes;
    }
  }
  if (path_ == TransferPath::copied) youngest_copied_ = put + loans.size();
  return path_;
}

/// Bytes up and down, as far as they can be known now.
std::size_t PathChooser::bytes_of(std::span<Loan const> loans) const {
  std::size_t bytes = 0;
  for (Loan const& loan : loans) {
    std::size_t up = std::min(loan->filled, shape_.input_bytes);
    for (std::size_t const which : more_inputs_) {
      up += std::min(loan->more_filled[which - 1], shape_.more_input_bytes[which - 1]);
    }
    // Only the stage can say, later, what comes back; mostly not more than went up.
    bytes += up + (up == 0 ? shape_.output_bytes : std::min(up, shape_.output_bytes));
  }
  return bytes;
}

/// True if the choice is left to the lane, the stage allows it, and the device sees all of the tiles.
bool PathChooser::may_be_mapped(std::span<Loan const> loans, Stage const& stage) {
  if (transport_ != Transport::automatic || !stage.promises().allow_mapping()) return false;
  try {
    return std::all_of(loans.begin(), loans.end(), [&](Loan const& loan) { return pool_.find(*loan).has_value(); });
  } catch (...) {
    return false;  // The copies will meet the cause; no tile has been taken yet.
  }
}

void PathChooser::through(Clock::time_point now, bool failed) noexcept {
  if (!since_) return;
  times_.took(lone_bytes_, path_, failed ? nanoseconds::max() : nanoseconds(now - *since_));
  since_.reset();
}

void PathChooser::cut_off(Clock::time_point now, bool failed) noexcept {
  if (!since_) return;
  if (failed) return through(now, failed);
  times_.took_longer(lone_bytes_, path_, now - *since_);
  since_.reset();
}

}  // namespace penstock
