// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/lane.hpp"

#include <algorithm>
#include <utility>

#include "penstock/core/current_failure.hpp"
#include "penstock/lane/callback_signal.hpp"

namespace penstock {
namespace {

/// Room for one ticket per tile in flight, and as many again from a device that calls twice.
std::size_t ticket_capacity(unsigned slots) {
  return std::min<std::size_t>(2 * std::size_t{slots} + 16, Mailbox<Ticket>::max_capacity);
}

}  // namespace

Lane::Lane(Device& device, TileShape shape, std::size_t most_tiles, LaneOptions options, unsigned number,
           Stages const& stages, OnCompletion on_completion)
    : device_(device),
      shape_(shape),
      options_(std::move(options)),
      number_(number),
      on_completion_(std::move(on_completion)),
      inbox_(most_tiles),
      tickets_(ticket_capacity(options_.slots)) {
  std::promise<void> ready;
  auto started = ready.get_future();
  thread_ = BoundThread(options_.name, options_.cpus, [&](std::stop_token const&) { body(ready, stages); });
  started.get();
}

Lane::~Lane() {
  cancel();
  close();
}

bool Lane::submit(Loan& loan) noexcept {
  // Counted first: a lane that was closed ends only once it counts nothing, so what passes the check below is still
  // served.
  load_.fetch_add(1, std::memory_order_seq_cst);
  if (closed_.load(std::memory_order_seq_cst) || !inbox_.push(&*loan)) {
    load_.fetch_sub(1, std::memory_order_seq_cst);
    bell_.notify();
    return false;
  }
  loan.release();
  bell_.notify();
  return true;
}

void Lane::cancel() noexcept {
  cancelled_.store(true, std::memory_order_release);
  bell_.notify();
}

void Lane::close() {
  stop_taking();
  thread_.join();
}

void Lane::stop_taking() noexcept {
  closed_.store(true, std::memory_order_seq_cst);
  bell_.notify();
}

/// The thread's whole life. `ready` and `stages` belong to the constructor, which returns once `ready` is set.
void Lane::body(std::promise<void>& ready, Stages const& stages) {
  try {
    device_.attach();
    flight_.emplace(device_, shape_, options_.slots, options_.streams);
    signal_ = std::make_unique<CallbackSignal>(device_, tickets_, bell_, options_.slots);
    stage_ = stages.make({device_, flight_->compute(), shape_, number_});
    if (stage_ == nullptr)
      throw Error(ErrorKind::bad_argument, "The factory made no stage: return one for every lane.");
    stage_->prepare(flight_->compute());
    if (auto const refusal = device_.take_refusal()) throw *refusal;
    ready.set_value();
  } catch (...) {
    static_cast<void>(device_.take_refusal());
    if (flight_) flight_->settle();  // What the stage has launched uses what the stage owns.
    stage_.reset();
    signal_.reset();
    flight_.reset();
    ready.set_exception(std::current_exception());
    return;
  }
  serve_to_the_end();
  finish_stage();
  signal_.reset();
  flight_.reset();
}

/// A lane that left with tiles in its hands would never be waited for to the end.
void Lane::serve_to_the_end() {
  for (;;) {
    try {
      return serve();
    } catch (std::exception const& exception) {  // No memory, say.
      lose(Error(ErrorKind::device_lost, std::string("The lane gave up: ") + exception.what()));
    }
  }
}

void Lane::serve() {
  auto const work_waits = [&] {
    if (!tickets_.empty()) return true;
    if (!inbox_.empty() && (!flight_->full() || cancelled_.load(std::memory_order_acquire))) return true;
    return closed_.load(std::memory_order_seq_cst) && load_.load(std::memory_order_seq_cst) == 0;
  };
  for (;;) {
    bool const retired = read_tickets();
    bool const took = take_tile();
    if (retired || took) continue;
    if (closed_.load(std::memory_order_seq_cst) && load_.load(std::memory_order_seq_cst) == 0) return;
    bool const news = look_around(work_waits);
    unsignalled_ = false;
    if (news) {
      sleeps_ = sleeps_ && options_.spin.count() == 0;
      continue;
    }
    arm_signal();
    sleeps_ = true;
    bool const woken = bell_.await(work_waits, std::chrono::nanoseconds(0),
                                   flight_->empty() ? std::chrono::hours(1) : options_.watchdog);
    unsignalled_ = !woken;
    if (unsignalled_) ask_device();
  }
}

/// Asks the device how far it is, once, and then for as long as the options say. True if there is something to do.
template <class Predicate>
bool Lane::look_around(Predicate const& work_waits) {
  auto const start = std::chrono::steady_clock::now();
  for (;;) {
    std::uint64_t const retired = flight_->retired();
    ask_whether_passed();
    if (work_waits() || flight_->retired() != retired) return true;
    if (std::chrono::steady_clock::now() - start >= options_.spin) return false;
    relax_cpu();
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
  }
  if (!any) return false;
  unsignalled_ = false;
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

void Lane::ask_whether_passed() {
  try {
    retire_passed();
  } catch (Error const& error) {
    give_up(error);
  }
}

void Lane::retire_passed() {
  while (!flight_->empty() && flight_->passed(flight_->retired() + 1)) retire_up_to(flight_->retired() + 1);
}

/// Retires what the device has passed, whatever was signalled.
void Lane::ask_device() {
  try {
    retire_passed();
    if (auto const loss = device_.lost()) lose(*loss);
  } catch (Error const& error) {
    give_up(error);
  }
}

void Lane::retire_up_to(std::uint64_t number) {
  if (unsignalled_) summary_.found_by_watchdog += number - flight_->retired();
  while (flight_->retired() < number) deliver(flight_->retire());
}

/// Takes one tile out of the inbox, if it can go anywhere.
bool Lane::take_tile() {
  bool const cancelled = cancelled_.load(std::memory_order_acquire);
  if (flight_->full() && !cancelled) return false;
  auto const tile = inbox_.pop();
  if (!tile) return false;
  Loan loan = Loan::resume(*tile);
  if (loss_ != nullptr) {
    deliver(Completion::failed(std::move(loan), loss_));
  } else if (cancelled) {
    deliver(Completion::cancelled(std::move(loan)));
  } else {
    try {
      flight_->put(std::move(loan), *stage_);
      signal_->put(flight_->youngest(), flight_->landed());
      // A call that is asked for early comes in time; asked for at the last moment it found the processor asleep, too,
      // and came up to half a millisecond late. A lane that spins needs none.
      if (sleeps_) arm_signal();
    } catch (Error const& error) {
      give_up(error);
    }
  }
  return true;
}

/// What the signal cannot promise, the watchdog finds.
void Lane::arm_signal() {
  if (loss_ != nullptr) return;
  try {
    signal_->arm(flight_->retired());
  } catch (Error const& error) {
    if (error.sticky()) lose(error);
  }
}

/// The device did not say how far it is, or did not take what it was given.
void Lane::give_up(Error const& error) {
  if (error.sticky()) return lose(error);
  // It is healthy, so waiting for it is the way to know.
  fail_all_in_flight(std::make_shared<Failure const>(Failure{"signal", error.what(), error.kind()}));
}

/// Ends the device for this lane: all in flight fail, once each, and so does all that still comes.
void Lane::lose(Error const& error) {
  if (loss_ == nullptr)
    loss_ = std::make_shared<Failure const>(Failure{"device", error.what(), ErrorKind::device_lost});
  lost_.store(true, std::memory_order_release);
  fail_all_in_flight(loss_);
}

/// Not before the device has let go of them: what runs on it runs to its end, and may still write to a tile.
void Lane::fail_all_in_flight(std::shared_ptr<Failure const> const& why) {
  if (flight_->empty()) return;
  flight_->settle();
  while (!flight_->empty()) deliver(flight_->retire(why));
}

void Lane::finish_stage() {
  if (loss_ != nullptr) return;
  try {
    stage_->finish(flight_->compute());
    if (auto const refusal = device_.take_refusal()) throw *refusal;
    flight_->compute().synchronize();
    finished_ = true;
  } catch (Error const& error) {
    finish_failure_ = current_failure("finish", error.kind());
    if (error.sticky()) lose(error);
  } catch (...) {
    finish_failure_ = current_failure("finish", ErrorKind::device_refused);
  }
}

void Lane::deliver(Completion completion) noexcept {
  if (completion.ok()) {
    ++summary_.tiles;
    summary_.bytes_up += completion.loan->filled;
    summary_.bytes_down += completion.loan->produced;
  }
  load_.fetch_sub(1, std::memory_order_seq_cst);
  on_completion_(std::move(completion));
}

}  // namespace penstock
