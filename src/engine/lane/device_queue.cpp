// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/device_queue.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "engine/lane/make_signal.hpp"

namespace penstock {

DeviceQueue::DeviceQueue(Device& device, LaneOptions const& options, unsigned number, LaneState& state,
                         std::shared_ptr<LanePost> post, LaneSummary& summary, CompletionTaker& completions)
    : device_(device),
      options_(options),
      number_(number),
      state_(state),
      post_(std::move(post)),
      summary_(summary),
      completions_(completions),
      speechless_(std::make_shared<Failure const>(Failure{
          "device", "The lane gave up, and there was no memory to say why: use less of it.", ErrorKind::device_lost})) {
  recorded_.reserve(options.flight.recorder != nullptr ? options.batch : 0);
}

void DeviceQueue::open(TileShape shape, std::size_t tiles) {
  FlightOptions flight = options_.flight;
  flight.lane = number_;
  flight.tiles = tiles;
  flight_ = std::make_unique<Flight>(device_, shape, flight);
  if (flight.recorder != nullptr) {
    row_ = flight.recorder->row_here();
    queue_row_ = flight.recorder->add_row("lane " + std::to_string(number_) + " inbox", RecordRow::Kind::queue);
  }
  signal_ = make_signal(options_.signal, {.device = device_,
                                          .tickets = post_->tickets,
                                          .bell = post_->bell,
                                          .depth = options_.flight.slots,
                                          .lane = number_,
                                          .cpus = options_.cpus});
  lookout_.emplace(options_, signal_->wakes(), Clock::now());
}

/// Counts what the flight has got, also if a later call threw.
struct DeviceQueue::CountedPut {
  DeviceQueue& queue;
  ~CountedPut() { queue.counts_.put.add(queue.flight_->youngest() - queue.counts_.put.value()); }
};

void DeviceQueue::put(std::span<Loan> batch, Stage& stage, std::span<Clock::time_point const> pushed) {
  bool const first = flight_->empty();
  auto const taken = Clock::now();
  // They are in flight until this thread retires them.
  recorded_.clear();
  if (!pushed.empty()) {
    for (Loan const& loan : batch) recorded_.push_back(&*loan);
  }
  try {
    {
      RangeHere const range(options_.ranges, Step::enqueue, representative_sequence(batch));
      CountedPut const counted{*this};
      flight_->put(batch, stage);
    }
    counts_.batches.add(1);
    if (!recorded_.empty()) note_taken(taken, pushed);
    // Now, and not before: the time of the stage's calls on this thread is not the device's time.
    if (first) lookout_->began(Clock::now(), flight_->retired());
  } catch (Error const& error) {
    return give_up(error);
  }
  // The watchdog finds what the signal cannot promise.
  try {
    signal_->put(flight_->youngest(), flight_->last_stream(), flight_->landed());
  } catch (Error const& error) {
    if (error.sticky()) return lose("", error.what());
  } catch (std::bad_alloc const&) {
  }
  if (lookout_->wants_calls()) arm();
}

/// The tile that stands for the batch where only one can be named: the first that a recorder wants, if there is one.
std::uint64_t DeviceQueue::representative_sequence(std::span<Loan const> batch) const noexcept {
  StepLog const* const recorder = options_.flight.recorder;
  auto const wanted = [&](Loan const& loan) { return recorder != nullptr && recorder->wants(loan->sequence); };
  auto const found = std::find_if(batch.begin(), batch.end(), wanted);
  return (found != batch.end() ? *found : batch.front())->sequence;
}

/// Shares out the time of the calls among the batch in equal parts.
void DeviceQueue::note_taken(Clock::time_point taken, std::span<Clock::time_point const> pushed) const {
  StepLog& recorder = *options_.flight.recorder;
  auto const took = Clock::now() - taken;
  auto const tiles = static_cast<std::chrono::nanoseconds::rep>(recorded_.size());
  for (std::size_t i = 0; i < recorded_.size(); ++i) {
    Tile const& tile = *recorded_[i];
    if (!recorder.wants(tile.sequence)) continue;
    auto const before = static_cast<std::chrono::nanoseconds::rep>(i);
    recorder.note(queue_row_, Step::inbox, tile.sequence, pushed[tile.index()], taken);
    recorder.note(row_, Step::enqueue, tile.sequence, taken + took * before / tiles,
                  taken + took * (before + 1) / tiles);
  }
}

void DeviceQueue::arm() {
  if (loss_ != nullptr) return;
  try {
    signal_->arm(flight_->retired());
  } catch (Error const& error) {
    if (error.sticky()) lose("", error.what());
  } catch (std::bad_alloc const&) {
  }
}

void DeviceQueue::turn_away(std::span<Loan> loans) {
  for (Loan& loan : loans) {
    deliver(loss_ == nullptr ? Completion::cancelled(std::move(loan)) : Completion::failed(std::move(loan), loss_),
            false);
  }
}

bool DeviceQueue::read_tickets() {
  std::uint64_t number = 0;
  bool trouble = false;
  bool any = false;
  while (auto const ticket = post_->tickets.pop()) {
    number = std::max(number, ticket->number);
    trouble = trouble || !ticket->status.ok;
    any = true;
    ++summary_.tickets;
  }
  if (!any) return false;
  asks_by_ = LaneCounts::By::callback;
  if (trouble) {
    ask_device();
  } else {
    try {
      // One question for many tiles; then one by one what the device has passed since it called.
      retire_up_to(number);
      retire_passed();
    } catch (Error const& error) {
      give_up(error);
    }
  }
  asks_by_ = LaneCounts::By::look;
  lookout_->looked(flight_->retired(), flight_->size());
  lookout_->heard();
  return true;
}

void DeviceQueue::look() {
  if (flight_->empty()) return;
  try {
    if (auto const number = signal_->read()) {
      retire_up_to(*number);
    } else {
      retire_passed();
    }
  } catch (Error const& error) {
    give_up(error);
  }
}

void DeviceQueue::end_look(Clock::time_point now) {
  if (!flight_->empty() && lookout_->overdue(now)) {
    // A lane that reads memory has to ask at times how the device is. A lane that asks events is told that, but not
    // that the device is slow.
    ask_for(signal_->read() ? LaneCounts::By::watchdog : LaneCounts::By::look);
  }
  lookout_->looked(flight_->retired(), flight_->size());
}

void DeviceQueue::end_sleep() {
  if (flight_->empty()) return;
  bool const overdue = lookout_->overdue(Clock::now());
  if (signal_->wakes() || (signal_->read() && overdue)) return ask_for(LaneCounts::By::watchdog);
  if (overdue) ask_device();
}

/// Asks further ahead as long as the answer is yes, since one question answers for all tiles before.
void DeviceQueue::retire_passed() {
  bool growing = true;
  for (std::uint64_t step = 1; !flight_->empty();) {
    step = std::min<std::uint64_t>(step, flight_->size());
    if (retire_up_to(flight_->retired() + step)) {
      if (growing) step *= 2;
    } else if (step > 1) {
      growing = false;
      step /= 2;
    } else {
      return;
    }
  }
}

/// Asks the device, and counts what it finds under `by`; with `watchdog`, no signal told of that.
void DeviceQueue::ask_for(LaneCounts::By by) {
  asks_by_ = by;
  ask_device();
  asks_by_ = LaneCounts::By::look;
}

/// Retires what the device has passed, whatever was signalled.
void DeviceQueue::ask_device() {
  lookout_->asked(Clock::now());
  try {
    retire_passed();
    if (auto const loss = device_.lost()) return lose("", loss->what());
  } catch (Error const& error) {
    give_up(error);
  }
  if (!flight_->empty() && lookout_->out_of_patience()) lose("", flight_->run_out_of_patience().what());
}

/// Retires all up to this number, or to the youngest, if the device has passed them. True if there was any.
bool DeviceQueue::retire_up_to(std::uint64_t number) {
  number = std::min(number, flight_->youngest());
  if (number <= flight_->retired() || !flight_->passed(number)) return false;
  lookout_->progressed(Clock::now());
  while (flight_->retired() < number) {
    Completion completion = flight_->retire();
    counts_.find(asks_by_);
    deliver(std::move(completion), flight_->retired() < number);
  }
  return true;
}

/// Gives up, since the device did not say how far it is, or did not take what it was given.
void DeviceQueue::give_up(Error const& error) {
  if (error.sticky()) return lose("", error.what());
  // The device is healthy, so a wait for it tells how far it is.
  fail_all_in_flight(std::make_shared<Failure const>(Failure{"signal", error.what(), error.kind()}));
}

void DeviceQueue::lose(char const* what, char const* reason) {
  note_loss(what, reason);
  fail_all_in_flight(loss_);
}

void DeviceQueue::note_loss(char const* what, char const* reason) noexcept {
  if (loss_ == nullptr) {
    try {
      loss_ = std::make_shared<Failure const>(Failure{"device", std::string(what) + reason, ErrorKind::device_lost});
    } catch (std::bad_alloc const&) {
      loss_ = speechless_;
    }
    summary_.loss = loss_;
  }
  bool const known = state_.lost();
  state_.lose();
  if (!known) completions_.lost();
}

/// Fails them only when the device has let go of them: what runs on it runs to its end, and may still write to a tile.
void DeviceQueue::fail_all_in_flight(std::shared_ptr<Failure const> why) {
  if (flight_->empty()) return;
  flight_->wait_idle();
  // The device may have been lost in the wait, or the patience with it may have run out.
  if (auto const loss = device_.lost()) {
    note_loss("", loss->what());
    why = loss_;
  }
  while (!flight_->empty()) {
    Completion completion = flight_->retire(why);
    counts_.returned.add(1);
    // The device may still use this tile, so no other user may get it again.
    if (device_.abandoned()) completion.loan.strand();
    deliver(std::move(completion), !flight_->empty());
  }
}

void DeviceQueue::deliver(Completion completion, bool more) noexcept {
  counts_.end(completion);
  state_.count_out();
  completions_.take(std::move(completion), more);
  // The callee may be a sink, and have left a refusal on this thread: no stage is to be blamed for that.
  static_cast<void>(device_.take_refusal());
}

void DeviceQueue::let_go(std::unique_ptr<Stage> stage) {
  if (device_.abandoned()) {
    struct Left {
      std::shared_ptr<LanePost> post;
      std::unique_ptr<Stage> stage;
      std::unique_ptr<Flight> flight;
      std::unique_ptr<Signal> signal;
    };
    auto left = std::make_shared<Left>();
    left->post = post_;
    left->stage = std::move(stage);
    left->flight = std::move(flight_);
    left->signal = std::move(signal_);
    device_.keep(std::move(left));
  }
  signal_.reset();
  flight_.reset();
}

}  // namespace penstock
