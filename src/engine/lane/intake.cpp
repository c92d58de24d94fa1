// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/intake.hpp"

#include <algorithm>
#include <utility>

namespace penstock {
namespace {

/// Maximum number of whole blocks in a row that pass tiles that wait for neighbours: some may be out for long.
constexpr unsigned most_overtakings = 4;
/// This many tiles in a row pay for one more tile in a batch: its last tile's wait against the cost of one more copy.
constexpr std::uint64_t tiles_for_one_more = 32;
/// A GPU's link takes 20 us for it.
constexpr std::size_t small_batch_bytes = std::size_t{1} << 20;

}  // namespace

void BatchBuilder::Order::add(std::size_t block) noexcept {
  std::size_t const place = block + 1;
  std::size_t const last = at(0).previous;
  at(place) = {.next = 0, .previous = last};
  at(last).next = place;
  at(0).previous = place;
}

void BatchBuilder::Order::remove(std::size_t block) noexcept {
  Link const gone = at(block + 1);
  at(gone.previous).next = gone.next;
  at(gone.next).previous = gone.previous;
}

BatchBuilder::BatchBuilder(std::size_t tiles, std::size_t block)
    : block_(block), here_(tiles), count_((tiles + block - 1) / block), begun_(count_.size()), whole_(count_.size()) {}

std::size_t BatchBuilder::size_of(std::size_t block) const noexcept {
  return std::min(block_, here_.size() - block * block_);
}

void BatchBuilder::add(Loan loan) noexcept {
  std::size_t const index = loan->index();
  std::size_t const block = index / block_;
  here_[index] = std::move(loan);
  ++size_;
  if (count_[block]++ == 0) begun_.add(block);
  if (count_[block] == size_of(block)) whole_.add(block);
}

void BatchBuilder::take_whole(std::vector<Loan>& loans) noexcept {
  if (whole_.empty()) return;
  std::size_t const block = whole_.first();
  whole_.remove(block);
  begun_.remove(block);
  std::size_t const first = block * block_;
  for (std::size_t index = first; index < first + count_[block]; ++index) loans.push_back(std::move(here_[index]));
  size_ -= std::exchange(count_[block], 0);
}

void BatchBuilder::take_oldest(std::size_t most, std::vector<Loan>& loans) noexcept {
  if (begun_.empty() || most == 0) return;
  std::size_t const block = begun_.first();
  if (count_[block] == size_of(block)) whole_.remove(block);
  std::size_t const first = block * block_;
  for (std::size_t index = first; index < first + size_of(block) && most > 0; ++index) {
    if (!here_[index]) continue;
    loans.push_back(std::move(here_[index]));
    --count_[block];
    --size_;
    --most;
  }
  if (count_[block] == 0) begun_.remove(block);
}

void BatchBuilder::take(std::size_t most, std::vector<Loan>& loans) noexcept {
  while (!begun_.empty() && loans.size() < most) take_oldest(most - loans.size(), loans);
}

Intake::Intake(std::size_t tiles, TileShape shape, LaneOptions const& options)
    : tiles_(tiles),
      batch_(options.batch),
      half_of_slots_((std::size_t{options.flight.slots} + 1) / 2),
      small_batch_(
          std::clamp<std::size_t>(small_batch_bytes / std::max<std::size_t>(1, shape.largest_part()), 1, batch_)),
      in_order_(options.in_order),
      inbox_(tiles),
      pushed_(options.flight.recorder != nullptr ? tiles : 0),
      // Blocks are taken in the order in which they were begun: of one tile each, in the order of the tiles.
      gathered_(tiles, in_order_ ? 1 : batch_) {}

bool Intake::push(Loan& loan) noexcept {
  if (!pushed_.empty()) pushed_[loan->index()] = Clock::now();
  if (!inbox_.push(&*loan)) return false;
  loan.release();
  return true;
}

bool Intake::gather() {
  bool any = false;
  while (auto const tile = inbox_.pop()) {
    gathered_.add(Loan::resume(*tile));
    any = true;
  }
  return any;
}

void Intake::take(DeviceRoom const& room, std::vector<Loan>& batch) noexcept {
  batch.clear();
  std::size_t const most = most_at_once();
  bool const whole_ones = most == batch_ && !in_order_;
  std::size_t const fits = std::min(most, room.free);
  bool passes = false;
  if (whole_ones && overtaken_ >= most_overtakings) {
    gathered_.take_oldest(fits, batch);
  } else if (whole_ones && whole_fits(room)) {
    passes = !gathered_.whole_is_oldest();
    gathered_.take_whole(batch);
  } else if (may_put_parts(room) || (in_order_ && whole_fits(room))) {
    gathered_.take(fits, batch);
  }
  if (batch.empty()) return;
  overtaken_ = passes ? overtaken_ + 1 : 0;
  count(batch.size());
}

void Intake::take_any(std::vector<Loan>& batch) noexcept {
  batch.clear();
  gathered_.take(batch_, batch);
}

/// No tile of a batch is computed before the whole batch is uploaded, nor downloaded before the whole batch is
/// computed: one direction stays behind the other by that much to the end. So batches grow with the length of the run.
std::size_t Intake::most_at_once() const noexcept {
  std::uint64_t const in_a_row = row_ended_ ? in_a_row_ / 2 : in_a_row_;
  return std::clamp<std::size_t>(in_a_row / tiles_for_one_more, small_batch_, batch_);
}

/// The count stays within twice the largest batch, so that a long run is soon forgotten.
void Intake::count(std::size_t put) noexcept {
  if (std::exchange(row_ended_, false)) in_a_row_ /= 2;
  in_a_row_ = std::min<std::uint64_t>(in_a_row_ + put, 2 * tiles_for_one_more * batch_);
}

bool Intake::whole_fits(DeviceRoom const& room) const noexcept {
  std::size_t const whole = !in_order_ ? gathered_.whole() : gathered_.size() >= batch_ ? batch_ : 0;
  return whole != 0 && room.free >= whole;
}

/// True if the tiles that were gathered first need not wait for their neighbours.
bool Intake::may_put_parts(DeviceRoom const& room) const noexcept {
  if (gathered_.empty() || room.free == 0) return false;
  if (overtaken_ >= most_overtakings || most_at_once() < batch_) return true;
  // The device might run dry before a block is whole if it had less to do.
  return room.in_flight < half_of_slots_ || room.ending;
}

}  // namespace penstock
