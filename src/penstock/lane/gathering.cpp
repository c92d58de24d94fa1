// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/gathering.hpp"

#include <algorithm>
#include <utility>

namespace penstock {

void Gathering::Order::add(std::size_t block) noexcept {
  std::size_t const place = block + 1;
  std::size_t const last = at(0).previous;
  at(place) = {.next = 0, .previous = last};
  at(last).next = place;
  at(0).previous = place;
}

void Gathering::Order::remove(std::size_t block) noexcept {
  Link const gone = at(block + 1);
  at(gone.previous).next = gone.next;
  at(gone.next).previous = gone.previous;
}

Gathering::Gathering(std::size_t tiles, std::size_t block)
    : block_(block), here_(tiles), count_((tiles + block - 1) / block), begun_(count_.size()), whole_(count_.size()) {}

std::size_t Gathering::size_of(std::size_t block) const noexcept {
  return std::min(block_, here_.size() - block * block_);
}

void Gathering::add(Loan loan) noexcept {
  std::size_t const index = loan->index();
  std::size_t const block = index / block_;
  here_[index] = std::move(loan);
  ++size_;
  if (count_[block]++ == 0) begun_.add(block);
  if (count_[block] == size_of(block)) whole_.add(block);
}

void Gathering::take_whole(std::vector<Loan>& loans) noexcept {
  if (whole_.empty()) return;
  std::size_t const block = whole_.first();
  whole_.remove(block);
  begun_.remove(block);
  std::size_t const first = block * block_;
  for (std::size_t index = first; index < first + count_[block]; ++index) loans.push_back(std::move(here_[index]));
  size_ -= std::exchange(count_[block], 0);
}

void Gathering::take_oldest(std::size_t most, std::vector<Loan>& loans) noexcept {
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

void Gathering::take(std::size_t most, std::vector<Loan>& loans) noexcept {
  while (!begun_.empty() && loans.size() < most) take_oldest(most - loans.size(), loans);
}

}  // namespace penstock
