// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/soak_ring.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "engine/core/pool.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

std::span<std::uint32_t> words(std::span<std::byte> bytes) {
  return {reinterpret_cast<std::uint32_t*>(bytes.data()), bytes.size() / sizeof(std::uint32_t)};
}

/// Content of a tile for a ticket: floats between 1 and 2 and their negatives, different for each place and
/// ticket.
class Content {
 public:
  explicit Content(std::uint64_t ticket) {
    std::uint64_t mixed = (ticket + 1) * 0x9e37'79b9'7f4a'7c15u;
    mixed = (mixed ^ mixed >> 29) * 0xbf58'476d'1ce4'e5b9u;
    start_ = static_cast<std::uint32_t>(mixed >> 32);
    twist_ = static_cast<std::uint32_t>(mixed);
  }
  std::uint32_t before(std::uint32_t at) const {
    constexpr std::uint32_t sign_and_fraction = 0x807f'ffff, one = 0x3f80'0000;
    return (((start_ + at * 0x9e37'79b1u) ^ twist_) & sign_and_fraction) | one;
  }
  /// Doubling a float adds one to its exponent, and changes nothing else.
  std::uint32_t after(std::uint32_t at) const { return before(at) + 0x0080'0000; }

 private:
  std::uint32_t start_;
  std::uint32_t twist_;
};

/// Adds one to a count that has one writer. Returns what it was.
std::uint64_t add_one_to(std::atomic<std::uint64_t>& count) {
  std::uint64_t const before = count.load(std::memory_order_relaxed);
  count.store(before + 1, std::memory_order_release);
  return before;
}

class Doubling final : public Stage {
 public:
  void prepare(StreamRef stream) override { sum_prepare(stream); }
  Promises promises() const noexcept override { return {.reads_once = true}; }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    auto const values = tile.input.as<float>();
    sum(values, values, values, stream);
    return tile.input.size();
  }
};

}  // namespace

SoakCounts& SoakCounts::operator+=(SoakCounts const& other) {
  submitted += other.submitted;
  completed += other.completed;
  doubled += other.doubled;
  early += other.early;
  wrong += other.wrong;
  disordered += other.disordered;
  failed += other.failed;
  return *this;
}

SoakRing::SoakRing(Device& device, Pool& pool, LaneOptions const& options, unsigned number, std::uint64_t first,
                   std::uint64_t tickets, std::atomic<bool> const& ending, EventCount& bell)
    : first_(first),
      tickets_(tickets),
      resting_(options.flight.slots / 2 + 1),
      ending_(ending),
      bell_(bell),
      out_(tiles_for(options.flight.slots), false),
      lane_(device, pool.shape(), pool.size(), options, number,
            {.make = [](StageContext const&) { return std::make_unique<Doubling>(); }, .merge = {}},
            [this](Completion completion) { back(std::move(completion)); }) {
  for (std::size_t tag = 0; tag < out_.size(); ++tag) {
    home_.push_back(pool.borrow());
    home_.back()->tag = tag;
    home_.back()->filled = pool.shape().input_bytes;
  }
}

void SoakRing::start() {
  while (home_.size() > resting_ && has_more()) issue();
  if (submitted_ == 0) ended_ = true;
  started_.store(true, std::memory_order_release);
  started_.notify_all();
}

bool SoakRing::has_more() const {
  return submitted_.load(std::memory_order_relaxed) < tickets_ && !ending_.load(std::memory_order_relaxed);
}

void SoakRing::issue() {
  Loan loan = std::move(home_.front());
  home_.pop_front();
  loan->sequence = first_ + add_one_to(submitted_);
  out_[loan->tag] = true;
  Content const content(loan->sequence);
  auto const to = words(loan->input());
  for (std::uint32_t i = 0; i < to.size(); ++i) to[i] = content.before(i);
  static_cast<void>(lane_.submit(loan));  // One that it does not take is never seen again, and so counts as lost.
}

void SoakRing::back(Completion completion) {
  // The first tiles are issued in their order, though some are back before the others are out.
  started_.wait(false, std::memory_order_acquire);
  Tile const& tile = *completion.loan;
  if (!out_[tile.tag]) {
    add_one_to(doubled_);
    completion.loan.release();  // There is another loan of it.
    return;
  }
  out_[tile.tag] = false;
  if (tile.sequence < youngest_) add_one_to(disordered_);
  youngest_ = std::max(youngest_, tile.sequence);
  if (!completion.ok()) {
    add_one_to(failed_);
  } else {
    look_at(tile);
  }
  home_.push_back(std::move(completion.loan));
  std::uint64_t const completed = add_one_to(completed_) + 1;
  if (home_.size() > resting_ && has_more()) issue();
  if (has_more() || completed != submitted_.load(std::memory_order_relaxed)) return;
  ended_.store(true, std::memory_order_release);
  bell_.notify();
}

void SoakRing::look_at(Tile const& tile) {
  Content const content(tile.sequence);
  auto const held = words(tile.output());
  std::uint32_t differences = tile.produced == tile.filled ? 0 : 1;
  for (std::uint32_t i = 0; i < held.size(); ++i) differences |= held[i] ^ content.after(i);
  if (differences == 0) return;
  bool early = false;
  bool wrong = tile.produced != tile.filled;
  for (std::uint32_t i = 0; i < held.size(); ++i) {
    early = early || held[i] == content.before(i);
    wrong = wrong || (held[i] != content.before(i) && held[i] != content.after(i));
  }
  if (early) add_one_to(early_);
  if (wrong) add_one_to(wrong_);
}

SoakCounts SoakRing::counts() const {
  // Each tile that is back was out before.
  std::uint64_t const completed = completed_;
  return {.submitted = submitted_,
          .completed = completed,
          .doubled = doubled_,
          .early = early_,
          .wrong = wrong_,
          .disordered = disordered_,
          .failed = failed_};
}

LaneSummary SoakRing::close() {
  lane_.close();
  return lane_.summary();
}

}  // namespace penstock
