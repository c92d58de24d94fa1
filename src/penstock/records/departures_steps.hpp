// SPDX-License-Identifier: Apache-2.0
// What BasicDepartures does, for departures.cpp and for a test on other atomics.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "penstock/error.hpp"
#include "penstock/records/departures.hpp"

namespace penstock {

template <class Atomics>
BasicDepartures<Atomics>::BasicDepartures(std::size_t hungry_below, std::chrono::nanoseconds linger, Send send,
                                          Divide divide)
    : hungry_below_(std::max<std::size_t>(1, hungry_below)),
      linger_(linger),
      send_(std::move(send)),
      divide_(std::move(divide)) {}

template <class Atomics>
BasicDepartures<Atomics>::~BasicDepartures() {
  for (Desk* desk = first_.load(std::memory_order_acquire); desk != nullptr;) {
    std::unique_ptr<Desk> const gone(std::exchange(desk, desk->next));
  }
}

template <class Atomics>
typename BasicDepartures<Atomics>::Desk& BasicDepartures<Atomics>::take_desk() {
  for (Desk* desk = first_.load(std::memory_order_acquire); desk != nullptr; desk = desk->next) {
    if (!desk->taken.exchange(true, std::memory_order_acquire)) return *desk;
  }
  auto made = std::make_unique<Desk>();
  made->next = first_.load(std::memory_order_relaxed);
  while (!first_.compare_exchange_weak(made->next, made.get(), std::memory_order_seq_cst, std::memory_order_relaxed)) {
  }
  return *made.release();
}

template <class Atomics>
void BasicDepartures<Atomics>::give_back(Desk& desk) noexcept {
  send_from(desk, Departure::asked);
  desk.taken.store(false, std::memory_order_release);
}

template <class Atomics>
std::optional<Pack*> BasicDepartures<Atomics>::take_up(Desk& desk) {
  // This and the look at closed_ are seq_cst, as are their counterparts in close: either we see that it is closed, or
  // it sees us at work and waits.
  Pack* const pack = desk.pack.exchange(&desk.at_work, std::memory_order_seq_cst);
  if (pack == &desk.at_work) {
    throw Error(ErrorKind::bad_argument, "The writer has claimed room for a record: commit it or let it go first.");
  }
  if (!closed()) return pack;
  put_down(desk, pack);
  return std::nullopt;
}

template <class Atomics>
void BasicDepartures<Atomics>::put_down(Desk& desk, Pack* pack) noexcept {
  std::optional<Departure> why;
  if (pack != nullptr) {
    if (!pack->since) pack->since = Clock::now();
    // Relaxed: the clock only asks the writer to look here, now or with the next record.
    if (desk.overdue.load(std::memory_order_relaxed)) {
      desk.overdue.store(false, std::memory_order_relaxed);
      if (Clock::now() - *pack->since >= linger_) why = Departure::late;
    }
    if (why) {
      under_way_.fetch_add(1, std::memory_order_seq_cst);
    } else if (enter()) {
      why = Departure::hungry;
    }
  }
  if (why) {
    // The desk says "at work" until the pack is sent, so a thread that drains waits for it.
    send_(*pack, *why);
    pack = nullptr;
  } else if (pack != nullptr) {
    // Relaxed: the store after it orders it.
    desk.since.store(pack->since->time_since_epoch().count(), std::memory_order_relaxed);
  }
  // Seq_cst, as is the count in `returned`: either that thread finds the pack, or this one sees that lanes are hungry.
  desk.pack.store(pack, std::memory_order_seq_cst);
  if (closed()) put_away_.notify();
  if (pack == nullptr) return;
  if (watch_asleep_.load(std::memory_order_seq_cst)) bell_.notify();
  send_waiting();
}

template <class Atomics>
void BasicDepartures<Atomics>::open_claim(Desk& desk, Pack& pack) noexcept {
  Clock::time_point const since = *pack.since;  // Others may move the records out once the claim is open.
  desk.claim.open(pack);
  // Either the clock's thread finds the claim, or we find its mark here.
  if (desk.overdue.load(std::memory_order_seq_cst)) {
    desk.overdue.store(false, std::memory_order_relaxed);
    if (Clock::now() - since >= linger_) send_from(desk, Departure::late);
  }
  if (watch_asleep_.load(std::memory_order_seq_cst)) bell_.notify();
  send_waiting();
}

template <class Atomics>
bool BasicDepartures<Atomics>::send_wanted(Pack& empty) noexcept {
  for (Desk* desk = first_.load(std::memory_order_seq_cst); desk != nullptr; desk = desk->next) {
    if (!desk->claim.is_wanted()) continue;
    sending_.fetch_add(1, std::memory_order_seq_cst);
    Pack* const moved = desk->claim.divide([&](Pack& claimed) { return divide_(claimed, &empty); });
    if (moved != nullptr) {
      send(*moved, Clock::now() - *moved->since >= linger_ ? Departure::late : Departure::hungry);
    }
    done_sending();
    if (moved != nullptr) return true;
  }
  return false;
}

template <class Atomics>
void BasicDepartures<Atomics>::send(Pack& pack, Departure why) noexcept {
  under_way_.fetch_add(1, std::memory_order_seq_cst);
  send_(pack, why);
}

template <class Atomics>
void BasicDepartures<Atomics>::send_from(Desk& desk, Departure why) noexcept {
  // Counted before the pack is taken: a thread that drains finds the pack on the desk, or a sender that is counted.
  sending_.fetch_add(1, std::memory_order_seq_cst);
  if (Pack* const pack = take_from(desk)) send(*pack, why);
  done_sending();
}

template <class Atomics>
void BasicDepartures<Atomics>::send_claimed(Desk& desk, Departure why) noexcept {
  sending_.fetch_add(1, std::memory_order_seq_cst);
  if (Pack* const pack = take_claimed(desk)) send(*pack, why);
  done_sending();
}

template <class Atomics>
void BasicDepartures<Atomics>::done_sending() noexcept {
  sending_.fetch_sub(1, std::memory_order_seq_cst);
  if (closed()) put_away_.notify();
}

template <class Atomics>
Pack* BasicDepartures<Atomics>::take_from(Desk& desk) const noexcept {
  Pack* pack = desk.pack.load(std::memory_order_seq_cst);
  // The writer may take it up meanwhile; then it is the writer's to send.
  while (pack != nullptr && pack != &desk.at_work) {
    if (desk.pack.compare_exchange_weak(pack, nullptr, std::memory_order_seq_cst, std::memory_order_seq_cst))
      return pack;
  }
  if (pack == nullptr) return nullptr;
  return take_claimed(desk);
}

template <class Atomics>
Pack* BasicDepartures<Atomics>::take_claimed(Desk& desk) const noexcept {
  return desk.claim.divide([this](Pack& claimed) { return divide_(claimed, nullptr); });
}

template <class Atomics>
void BasicDepartures<Atomics>::returned() noexcept {
  under_way_.fetch_sub(1, std::memory_order_seq_cst);
  send_waiting();
}

template <class Atomics>
bool BasicDepartures<Atomics>::enter() noexcept {
  std::size_t now = under_way_.load(std::memory_order_seq_cst);
  while (now < hungry_below_) {
    if (under_way_.compare_exchange_weak(now, now + 1, std::memory_order_seq_cst, std::memory_order_seq_cst))
      return true;
  }
  return false;
}

template <class Atomics>
void BasicDepartures<Atomics>::send_waiting() noexcept {
  while (under_way_.load(std::memory_order_seq_cst) < hungry_below_) {
    Desk* const desk = oldest();
    if (desk == nullptr || !enter()) return;
    sending_.fetch_add(1, std::memory_order_seq_cst);
    if (Pack* const pack = take_from(*desk)) {
      send_(*pack, Departure::hungry);
    } else {
      // Its writer was quicker, or records beside a claim found no tile. Another thread may have found the lanes busy
      // because of our count, so look once more.
      under_way_.fetch_sub(1, std::memory_order_seq_cst);
      if (desk->claim.is_wanted()) {
        look_again_.store(true, std::memory_order_seq_cst);
        bell_.notify();
      }
    }
    done_sending();
  }
}

template <class Atomics>
typename BasicDepartures<Atomics>::Desk* BasicDepartures<Atomics>::oldest() const noexcept {
  Desk* found = nullptr;
  Clock::rep since = 0;
  for (Desk* desk = first_.load(std::memory_order_seq_cst); desk != nullptr; desk = desk->next) {
    Pack const* const pack = desk->pack.load(std::memory_order_seq_cst);
    if (pack == nullptr || (pack == &desk->at_work && !desk->claim.is_open())) continue;
    // Relaxed: if the pack changes meanwhile, a younger one leaves first, once.
    Clock::rep const own = desk->since.load(std::memory_order_relaxed);
    if (found == nullptr || own < since) {
      found = desk;
      since = own;
    }
  }
  return found;
}

template <class Atomics>
void BasicDepartures<Atomics>::close() noexcept {
  closed_.store(true, std::memory_order_seq_cst);
  for (Desk* desk = first_.load(std::memory_order_seq_cst); desk != nullptr; desk = desk->next) {
    // Until nothing is there: after the look the writer may still take the pack up, and then finds that this is closed.
    while (Pack const* const pack = desk->pack.load(std::memory_order_seq_cst)) {
      if (pack == &desk->at_work) {
        put_away_.await([&] { return desk->pack.load(std::memory_order_seq_cst) != &desk->at_work; }, {}, until_rung);
      } else {
        send_from(*desk, Departure::asked);
      }
    }
  }
  auto const all_sent = [&] { return sending_.load(std::memory_order_seq_cst) == 0; };
  while (!put_away_.await(all_sent, {}, until_rung)) {
  }
}

}  // namespace penstock
