// SPDX-License-Identifier: Apache-2.0
// How a lane hears from its device, retires what is through, and gives up what is lost.
#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "penstock/lane/lane.hpp"

namespace penstock {
namespace {

/// With so much news since the last sleep, a lane counts as one that does not come to sleep.
constexpr std::uint64_t often = 4;

}  // namespace

/// The watchdog finds what the signal cannot promise.
void Lane::tell_signal() {
  try {
    signal_->put(flight_->youngest(), flight_->last_stream(), flight_->landed());
  } catch (Error const& error) {
    if (error.sticky()) return lose(error);
  }
  // A call that is asked for early comes in time. A call that is asked for at the last moment finds the processor
  // asleep, too, and comes up to half a millisecond late. A lane that does not come to sleep needs no calls, and many
  // calls are slow: at 4 KiB four lanes get through twice as many tiles without them (bench/lane/signal_bench).
  if (news_ < often) arm_signal();
}

void Lane::arm_signal() {
  if (loss_ != nullptr) return;
  try {
    signal_->arm(flight_->retired());
  } catch (Error const& error) {
    if (error.sticky()) lose(error);
  }
}

/// Looks once how far the device is, and retires what it has passed.
void Lane::look() {
  if (flight_->empty()) return;
  try {
    if (auto const number = signal_->read()) {
      std::uint64_t const last = std::min(*number, flight_->youngest());
      if (last > flight_->retired() && flight_->passed(last)) retire_up_to(last);
    } else {
      retire_passed();
    }
  } catch (Error const& error) {
    give_up(error);
  }
}

/// Retires what the tickets promise, as far as the device confirms it: a ticket may come early, twice, late or not at
/// all.
bool Lane::read_tickets() {
  std::uint64_t number = 0;
  bool trouble = false;
  bool any = false;
  while (auto const ticket = tickets_.pop()) {
    number = std::max(number, ticket->number);
    trouble = trouble || !ticket->status.ok;
    any = true;
    ++summary_.tickets;
  }
  if (!any) return false;
  if (trouble) {
    ask_device();
    return true;
  }
  number = std::min(number, flight_->youngest());
  try {
    // One question for many tiles; then one by one what the device has passed since it called.
    if (number > flight_->retired() && flight_->passed(number)) retire_up_to(number);
    retire_passed();
  } catch (Error const& error) {
    give_up(error);
  }
  return true;
}

/// Asks further ahead as long as the answer is yes, since one question answers for all tiles before.
void Lane::retire_passed() {
  bool growing = true;
  for (std::uint64_t step = 1; !flight_->empty();) {
    step = std::min<std::uint64_t>(step, flight_->size());
    if (flight_->passed(flight_->retired() + step)) {
      retire_up_to(flight_->retired() + step);
      if (growing) step *= 2;
    } else if (step > 1) {
      growing = false;
      step /= 2;
    } else {
      return;
    }
  }
}

/// Asks for the watchdog: no signal told of what this finds.
void Lane::ask_unsignalled() {
  unsignalled_ = true;
  ask_device();
  unsignalled_ = false;
}

/// Retires what the device has passed, whatever was signalled.
void Lane::ask_device() {
  asked_ = std::chrono::steady_clock::now();
  try {
    retire_passed();
    if (auto const loss = device_.lost()) return lose(*loss);
  } catch (Error const& error) {
    give_up(error);
  }
  if (!flight_->empty() && patience_.runs_out(asked_)) lose(flight_->run_out_of_patience());
}

void Lane::retire_up_to(std::uint64_t number) {
  progress_ = asked_ = std::chrono::steady_clock::now();
  patience_.renew(progress_);
  if (number == flight_->youngest()) flight_->note_through(progress_);
  if (unsignalled_) summary_.found_by_watchdog += number - flight_->retired();
  while (flight_->retired() < number) deliver(flight_->retire());
}

/// The device did not say how far it is, or did not take what it was given.
void Lane::give_up(Error const& error) {
  if (error.sticky()) return lose(error);
  // The device is healthy, so a wait for it tells how far it is.
  fail_all_in_flight(std::make_shared<Failure const>(Failure{"signal", error.what(), error.kind()}));
}

/// Ends the device for this lane: all in flight fail, once each, and so does all that still comes.
void Lane::lose(Error const& error) {
  note_loss("", error.what());
  fail_all_in_flight(loss_);
}

/// Called before the first tile that fails of it is delivered: the receiver asks whether a lane is left.
void Lane::note_loss(char const* what, char const* words) noexcept {
  if (loss_ == nullptr) {
    try {
      loss_ = std::make_shared<Failure const>(Failure{"device", std::string(what) + words, ErrorKind::device_lost});
    } catch (std::bad_alloc const&) {
      loss_ = speechless_;
    }
    summary_.loss = loss_;
  }
  // One order for all threads: of two lanes that lose their devices at once, at least one sees both lost.
  lost_.store(true, std::memory_order_seq_cst);
}

/// Fails them only when the device has let go of them: what runs on it runs to its end, and may still write to a tile.
void Lane::fail_all_in_flight(std::shared_ptr<Failure const> why) {
  if (flight_->empty()) return;
  flight_->note_through(std::chrono::steady_clock::now(), true);
  flight_->settle();
  // The device may have been lost in the wait, or the patience with it may have run out.
  if (auto const loss = device_.lost()) {
    note_loss("", loss->what());
    why = loss_;
  }
  while (!flight_->empty()) {
    Completion completion = flight_->retire(why);
    // The device may still use this tile, so no other user may get it again.
    if (device_.abandoned()) completion.loan.strand();
    deliver(std::move(completion));
  }
}

/// Leaves with an abandoned device what it may still touch, or call, or keep from returning.
void Lane::leave_behind() {
  struct Left {
    std::shared_ptr<LanePost> post;
    std::unique_ptr<Stage> stage;
    std::unique_ptr<Flight> flight;
    std::unique_ptr<Signal> signal;
  };
  auto left = std::make_shared<Left>();
  left->post = post_;
  // A finished stage has its result on the host, to be merged: it must only not be destroyed before the device ends.
  if (!finished_) left->stage = std::move(stage_);
  left->flight = std::move(flight_);
  left->signal = std::move(signal_);
  device_.keep(std::move(left));
}

void Lane::deliver(Completion completion) noexcept {
  if (completion.ok()) {
    ++summary_.tiles;
    summary_.bytes_up += completion.loan->all_filled();
    summary_.bytes_down += completion.loan->produced;
  } else if (completion.outcome == Outcome::failed) {
    ++summary_.failed;
  }
  load_.fetch_sub(1, std::memory_order_seq_cst);
  on_completion_(std::move(completion));
  // The callee may be a sink, and have left a refusal on this thread: no stage is to be blamed for that.
  static_cast<void>(device_.take_refusal());
}

}  // namespace penstock
