// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/lane.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "penstock/core/current_failure.hpp"
#include "penstock/lane/make_signal.hpp"
#include "penstock/machine/timer_slack.hpp"

namespace penstock {
namespace {

/// Room for one ticket per tile in flight, and as many again from a device that calls twice.
std::size_t ticket_capacity(unsigned slots) {
  return std::min<std::size_t>(2 * std::size_t{slots} + 16, Mailbox<Ticket>::max_capacity);
}

/// How long a lane sleeps between two looks at a device that does not call it, unless it may spin.
constexpr std::chrono::microseconds between_looks{50};

LaneOptions expect_sound(LaneOptions options) {
  if (options.batch == 0)
    throw Error(ErrorKind::bad_argument, "A lane takes at least one tile at a time: ask for a batch of 1 or more.");
  options.batch = std::min(options.batch, std::max(1U, options.flight.slots / 2));
  return options;
}

}  // namespace

Lane::Lane(Device& device, TileShape shape, std::size_t most_tiles, LaneOptions options, unsigned number,
           Stages const& stages, OnCompletion on_completion)
    : device_(device),
      shape_(shape),
      options_(expect_sound(std::move(options))),
      number_(number),
      on_completion_(std::move(on_completion)),
      most_tiles_(most_tiles),
      intake_(most_tiles, shape,
              {.slots = options_.flight.slots, .batch = options_.batch, .times = options_.flight.recorder != nullptr}),
      post_(std::make_shared<LanePost>(ticket_capacity(options_.flight.slots))),
      tickets_(post_->tickets),
      bell_(post_->bell),
      speechless_(std::make_shared<Failure const>(Failure{
          "device", "The lane gave up, and there was no memory to say why: use less of it.", ErrorKind::device_lost})) {
  batch_.reserve(options_.batch);
  recorded_.reserve(intake_.pushed().empty() ? 0 : options_.batch);
  std::promise<void> ready;
  auto started = ready.get_future();
  thread_ = BoundThread(options_.name, options_.cpus, [&](std::stop_token const&) {
    thread_id_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    body(ready, stages);
    grow(LaneAge::ended);
  });
  started.get();
}

Lane::~Lane() {
  cancel();
  close();
  // The user's stage may free memory at its end, and that may wait for all work of the device.
  if (stage_ != nullptr && device_.abandoned()) device_.keep(std::shared_ptr<Stage>(std::move(stage_)));
}

bool Lane::submit(Loan& loan) noexcept {
  if (!intake_.has_place_for(*loan)) return false;
  // Counted first: a closed lane ends only once its count is 0, so a tile that passes the check below is still served.
  load_.fetch_add(1, std::memory_order_seq_cst);
  if (closed_.load(std::memory_order_seq_cst) || !intake_.push(loan)) {
    load_.fetch_sub(1, std::memory_order_seq_cst);
    bell_.notify();
    return false;
  }
  bell_.notify();
  return true;
}

void Lane::cancel() noexcept {
  cancelled_.store(true, std::memory_order_release);
  bell_.notify();
  alarm_.notify();
}

void Lane::hurry() noexcept {
  hurried_.store(true, std::memory_order_release);
  bell_.notify();
}

void Lane::close() {
  stop_taking();
  thread_.join();
}

void Lane::stop_taking() noexcept {
  closed_.store(true, std::memory_order_seq_cst);
  bell_.notify();
  alarm_.notify();
}

void Lane::await(LaneAge age) noexcept {
  // Acquire: this thread sees what the lane did until then.
  auto const grown = [&] { return age_.load(std::memory_order_acquire) >= age; };
  while (!aged_.await(grown, std::chrono::nanoseconds(0), std::chrono::hours(1))) {
  }
}

void Lane::grow(LaneAge age) noexcept {
  age_.store(age, std::memory_order_release);
  aged_.notify();
}

/// The thread's whole life. `ready` and `stages` belong to the constructor, which returns once `ready` is set.
void Lane::body(std::promise<void>& ready, Stages const& stages) {
  try {
    device_.attach();
    if (options_.spin.count() > 0) make_timers_precise();
    FlightOptions flight = options_.flight;
    flight.lane = number_;
    flight.tiles = most_tiles_;
    flight_ = std::make_unique<Flight>(device_, shape_, flight);
    if (flight.recorder != nullptr) {
      row_ = flight.recorder->row_here();
      queue_row_ = flight.recorder->add_row("lane " + std::to_string(number_) + " inbox", RecordRow::Kind::queue);
    }
    signal_ = make_signal(options_.signal, {.device = device_,
                                            .tickets = tickets_,
                                            .bell = bell_,
                                            .depth = options_.flight.slots,
                                            .lane = number_,
                                            .cpus = options_.cpus});
    stage_ = stages.make({device_, flight_->compute(), shape_, number_});
    if (stage_ == nullptr)
      throw Error(ErrorKind::bad_argument, "The factory made no stage: return one for every lane.");
    if (flight.transport == Transport::mapped && !stage_->promises().allow_mapping()) {
      throw Error(ErrorKind::bad_argument,
                  "The transport is to be mapped, but the stage does not promise that it passes over a tile's bytes "
                  "once: say so with Promises::reads_once if it does, or let the transport be automatic or copies.");
    }
    flight_->prepare(*stage_);
    stage_->prepare(flight_->compute());
    if (auto const refusal = device_.take_refusal()) throw *refusal;
    if (options_.ends_with != nullptr) options_.ends_with->join();
    ready.set_value();
  } catch (...) {
    static_cast<void>(device_.take_refusal());
    if (flight_) flight_->settle();  // What the stage has launched uses what the stage owns.
    if (device_.abandoned()) leave_behind();
    stage_.reset();
    signal_.reset();
    flight_.reset();
    ready.set_exception(std::current_exception());
    return;
  }
  serve_to_the_end();
  if (summary_.batches > 0) summary_.served = std::chrono::steady_clock::now() - serves_since_;
  summary_.copies = flight_->copies();
  summary_.mapped = flight_->mapped();
  summary_.graphs = flight_->graphs().launched();
  summary_.not_captured = flight_->graphs().failure();
  finish_stage();
  // Calls from the tiles' own stream come after the tiles; they must not find the signal gone.
  flight_->settle();
  if (device_.lost()) flight_->drop_calls();
  grow(LaneAge::settled);
  if (options_.ends_with != nullptr) options_.ends_with->leave();
  if (device_.abandoned()) return leave_behind();
  signal_.reset();
  flight_.reset();
}

/// Ends only when the lane holds no tile: otherwise a wait for its tiles would never end.
void Lane::serve_to_the_end() {
  for (;;) {
    try {
      return serve();
    } catch (std::bad_alloc const&) {
      note_loss("The lane gave up: ", "it found no memory. Leave the process more, or have fewer or smaller tiles.");
    } catch (std::exception const& exception) {
      note_loss("The lane gave up: ", exception.what());
    }
    fail_all_in_flight(loss_);
  }
}

void Lane::serve() {
  auto const work_waits = [&] {
    if (!tickets_.empty()) return true;
    if (intake_.inbox_has_any()) return true;
    if (!intake_.empty() && (turns_away() || intake_.may_go(room()))) return true;
    return closed_.load(std::memory_order_seq_cst) && load_.load(std::memory_order_seq_cst) == 0;
  };
  for (;;) {
    bool const heard = read_tickets();
    if (heard) {
      note_pace();
      ++news_;
    }
    bool const took = take_tiles();
    if (heard || took) continue;
    if (closed_.load(std::memory_order_seq_cst) && load_.load(std::memory_order_seq_cst) == 0) return;
    if (flight_->empty() && intake_.empty()) intake_.end_row();
    if (watch(work_waits)) {
      ++news_;
    } else {
      rest(work_waits);
    }
  }
}

/// Asks the device how far it is, once, and then for as long as the lane may spin. True if there is something to do.
template <class Predicate>
bool Lane::watch(Predicate const& work_waits) {
  auto const idle = summary_.idle;
  auto const start = std::chrono::steady_clock::now();
  auto awake_since = start;
  for (auto now = start;;) {
    std::uint64_t const retired = flight_->retired();
    summary_.idle = idle + (now - start);  // What the last look takes may be work.
    look();
    now = std::chrono::steady_clock::now();
    if (!flight_->empty() && now - asked_ >= options_.watchdog) {
      // A lane that reads memory has to ask at times how the device is. A lane that asks events is told that, but not
      // that the device is slow.
      signal_->read() ? ask_unsignalled() : ask_device();
    }
    note_pace();
    if (work_waits() || flight_->retired() != retired) return true;
    if (auto const length = time_to_nap(now); length.count() > 0) {
      flight_->cut_off(now);
      alarm_.await([this] { return must_not_nap(); }, std::chrono::nanoseconds(0), length);
      ++summary_.naps;
      now = awake_since = std::chrono::steady_clock::now();
      continue;
    }
    bool const must_look = options_.spin.count() != 0 && !signal_->wakes() && !flight_->empty();
    if (now - awake_since >= options_.spin && !must_look) {
      flight_->cut_off(now);
      return false;
    }
    relax_cpu();
  }
}

/// Sleeps until there is something to do, or it is time to ask the device.
template <class Predicate>
void Lane::rest(Predicate const& work_waits) {
  arm_signal();
  news_ = 0;
  std::chrono::nanoseconds at_most = std::chrono::hours(1);
  if (!flight_->empty()) {
    at_most = options_.watchdog;
    if (!signal_->wakes()) at_most = std::min<std::chrono::nanoseconds>(at_most, between_looks);
  }
  auto const asleep_since = std::chrono::steady_clock::now();
  bool const woken = bell_.await(work_waits, std::chrono::nanoseconds(0), at_most);
  summary_.idle += std::chrono::steady_clock::now() - asleep_since;
  if (woken || flight_->empty()) return;
  bool const overdue = std::chrono::steady_clock::now() - asked_ >= options_.watchdog;
  if (signal_->wakes() || (signal_->read() && overdue)) {
    ask_unsignalled();
  } else if (overdue) {
    ask_device();
  }
}

void Lane::finish_stage() {
  if (loss_ != nullptr) return;
  try {
    flight_->finish(*stage_);
    finished_ = true;
  } catch (Error const& error) {
    note_finish_failure();
    if (error.sticky() && device_.lost()) lose(error);  // Else it is the loss of another device.
  } catch (...) {
    note_finish_failure();
  }
}

/// In a catch block.
void Lane::note_finish_failure() noexcept {
  try {
    finish_failure_ = current_failure("finish", ErrorKind::device_refused);
  } catch (std::bad_alloc const&) {
    finish_failure_ = speechless_;
  }
}

}  // namespace penstock
