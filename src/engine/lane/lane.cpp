// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/lane.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "engine/core/failure_text.hpp"
#include "engine/machine/bound_thread.hpp"
#include "penstock/clock.hpp"

namespace penstock {
namespace {

/// Room for one ticket per tile in flight, and as many again from a device that calls twice.
std::size_t ticket_capacity(unsigned slots) {
  return std::min<std::size_t>(2 * std::size_t{slots} + 16, Mailbox<Ticket>::max_capacity);
}

LaneOptions expect_sound(LaneOptions options) {
  if (options.batch == 0)
    throw Error(ErrorKind::bad_argument, "A lane takes at least one tile at a time: ask for a batch of 1 or more.");
  options.batch = std::min(options.batch, std::max(1U, options.flight.slots / 2));
  return options;
}

}  // namespace

Lane::Lane(Device& device, TileShape shape, std::size_t most_tiles, LaneOptions options, unsigned number,
           Stages const& stages, std::optional<CompletionFunction> function, CompletionTaker* completions)
    : device_(device),
      shape_(shape),
      options_(expect_sound(std::move(options))),
      number_(number),
      function_(std::move(function)),
      most_tiles_(most_tiles),
      post_(std::make_shared<LanePost>(ticket_capacity(options_.flight.slots))),
      bell_(post_->bell),
      state_(bell_),
      intake_(most_tiles, shape, options_),
      queue_(device, options_, number, state_, post_, summary_, completions != nullptr ? *completions : *function_),
      brings_(options_.bringer != nullptr) {
  batch_.reserve(options_.batch);
  std::promise<void> ready;
  auto started = ready.get_future();
  thread_ = BoundThread(options_.name, options_.cpus, [&](std::stop_token const&) {
    thread_id_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    body(ready, stages);
    state_.grow(LaneAge::ended);
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
  state_.count_in();
  if (state_.closed() || !intake_.push(loan)) {
    state_.count_out();
    bell_.notify();
    return false;
  }
  bell_.notify();
  return true;
}

void Lane::close() {
  stop_taking();
  thread_.join();
}

LaneSummary Lane::summary() const noexcept {
  LaneSummary all = summary_;
  queue_.counts().write_to(all);
  return all;
}

LaneSnapshot Lane::snapshot() const noexcept {
  LaneSnapshot lane = queue_.counts().read();
  std::size_t const has = state_.load();
  lane.waiting = has - std::min<std::size_t>(has, lane.in_flight());
  lane.lost = state_.lost();
  return lane;
}

/// The thread's whole life. `ready` and `stages` belong to the constructor, which returns once `ready` is set.
void Lane::body(std::promise<void>& ready, Stages const& stages) {
  try {
    open(stages);
    ready.set_value();
  } catch (...) {
    static_cast<void>(device_.take_refusal());
    queue_.wait_idle();  // The stage's launched work uses what the stage owns.
    if (!device_.abandoned()) stage_.reset();
    let_go();
    ready.set_exception(std::current_exception());
    return;
  }
  serve_to_the_end();
  bring_no_more();
  if (queue_.counts().batches.value() > 0) summary_.served = Clock::now() - serves_since_;
  queue_.sum_up();
  finish_stage();
  // Calls from the tiles' own stream come after the tiles; they must not find the signal gone.
  queue_.wait_idle();
  if (device_.lost()) queue_.drop_calls();
  state_.grow(LaneAge::idle);
  if (options_.ends_with != nullptr) options_.ends_with->leave();
  let_go();
}

void Lane::open(Stages const& stages) {
  device_.attach();
  if (options_.spin.count() > 0) make_timers_precise();
  queue_.open(shape_, most_tiles_);
  if (options_.bringer != nullptr) queue_.compute().compute_here();
  stage_ = stages.make({device_, queue_.compute(), shape_, number_, options_.spare, options_.bringer != nullptr});
  if (stage_ == nullptr) throw Error(ErrorKind::bad_argument, "The factory made no stage: return one for every lane.");
  if (options_.flight.transport == Transport::mapped && !stage_->promises().allow_mapping()) {
    throw Error(ErrorKind::bad_argument,
                "The transport is to be mapped, but the stage does not promise that it passes over a tile's bytes "
                "once: say so with Promises::reads_once if it does, or let the transport be automatic or copies.");
  }
  summary_.may_map = stage_->promises().allow_mapping();
  queue_.prepare(*stage_);
  stage_->prepare(queue_.compute());
  if (auto const refusal = device_.take_refusal()) throw *refusal;
  if (options_.ends_with != nullptr) options_.ends_with->join();
}

/// Ends only when the lane holds no tile: otherwise a wait for its tiles would never end.
void Lane::serve_to_the_end() {
  for (;;) {
    try {
      return serve();
    } catch (std::bad_alloc const&) {
      queue_.lose("The lane gave up: ", "it found no memory. Leave the process more, or have fewer or smaller tiles.");
    } catch (std::exception const& exception) {
      queue_.lose("The lane gave up: ", exception.what());
    }
  }
}

void Lane::serve() {
  auto const work_waits = [&] {
    if (!post_->tickets.empty()) return true;
    if (intake_.inbox_has_any()) return true;
    if (!intake_.empty() && (turns_away() || intake_.may_go(room()))) return true;
    if (brings_ && queue_.empty() && intake_.empty() && options_.bringer->ready()) return true;
    return state_.served_all();
  };
  for (;;) {
    bool const heard = queue_.read_tickets();
    bool const took = take_tiles();
    if (heard || took) continue;
    if (state_.served_all()) return;
    if (queue_.empty() && intake_.empty()) {
      if (bring()) continue;
      intake_.end_row();
    }
    if (watch(work_waits)) {
      queue_.lookout().heard();
    } else {
      rest(work_waits);
    }
  }
}

/// Takes what waits in the inbox, and puts on the device what may go there. True if there was anything to do.
bool Lane::take_tiles() {
  bool const any = intake_.gather();
  if (intake_.empty()) return any;
  // This is asked only after gathering: so a tile that was submitted after cancel() had returned is turned away.
  if (turns_away()) {
    while (!intake_.empty()) {
      intake_.take_any(batch_);
      queue_.turn_away(batch_);
    }
    return true;
  }
  intake_.take(room(), batch_);
  if (batch_.empty()) return any;
  if (queue_.counts().batches.value() == 0) {
    serves_since_ = Clock::now();
    summary_.idle = {};
  }
  queue_.put(batch_, *stage_, intake_.pushed());
  if (options_.flight.step_by_step) {
    queue_.wait_idle();
    queue_.look();  // These tiles are through, before the next may lose the device.
  }
  return true;
}

/// Brings a tile of its own, now that it has none. False if there is nothing to bring, now or ever.
bool Lane::bring() {
  if (!brings_ || !options_.bringer->ready()) return false;
  // This comes before the question whether the lane ends: the thread that closes it asks in the other order.
  bringing_.store(Bringing::yes, std::memory_order_seq_cst);
  bool const more = !turns_away() && !state_.ending() && options_.bringer->bring(number_);
  if (auto bringing = Bringing::yes;
      !bringing_.compare_exchange_strong(bringing, Bringing::no, std::memory_order_seq_cst)) {
    state_.await(LaneAge::ended);  // It never gets there: the process ends.
  }
  if (!more) bring_no_more();
  return true;
}

void Lane::leave_behind() noexcept {
  auto bringing = Bringing::yes;
  bringing_.compare_exchange_strong(bringing, Bringing::left_behind, std::memory_order_seq_cst);
}

void Lane::abandon_device() noexcept {
  try {
    device_.abandon(Error(ErrorKind::device_lost, "One of its kernels ends the process, and so does not end itself."));
    bell_.notify();
  } catch (...) {  // No memory for the reason: the lanes find out by their patience.
  }
}

void Lane::bring_no_more() noexcept {
  if (std::exchange(brings_, false)) options_.bringer->leave();
}

bool Lane::turns_away() const noexcept {
  return queue_.loss() != nullptr || state_.cancelled();
}

DeviceRoom Lane::room() const noexcept {
  return {.free = queue_.room(), .in_flight = queue_.size(), .ending = state_.ending()};
}

/// Asks the device how far it is, once, and then for as long as the lane may spin. True if there is something to do.
template <class Predicate>
bool Lane::watch(Predicate const& work_waits) {
  auto const idle = summary_.idle;
  auto const start = Clock::now();
  auto awake_since = start;
  for (auto now = start;;) {
    std::uint64_t const retired = queue_.retired();
    summary_.idle = idle + (now - start);  // The last look may be work.
    queue_.look();
    now = Clock::now();
    queue_.end_look(now);
    if (work_waits() || queue_.retired() != retired) return true;
    auto const budget = queue_.lookout().idle_budget(queue_.size(), now);
    if (budget.count() > 0 && !state_.must_not_nap()) {
      state_.nap(budget);
      ++summary_.naps;
      now = awake_since = Clock::now();
      continue;
    }
    if (!queue_.lookout().stays_awake(queue_.size(), awake_since, now)) return false;
    relax_cpu();
  }
}

/// Sleeps until there is something to do, or it is time to ask the device.
template <class Predicate>
void Lane::rest(Predicate const& work_waits) {
  queue_.arm();
  queue_.lookout().rests();
  auto const at_most = queue_.lookout().longest_sleep(queue_.size());
  auto const asleep_since = Clock::now();
  bool const woken = bell_.await(work_waits, std::chrono::nanoseconds(0), at_most);
  summary_.idle += Clock::now() - asleep_since;
  if (!woken) queue_.end_sleep();
}

void Lane::finish_stage() {
  if (queue_.loss() != nullptr) return;
  try {
    queue_.finish(*stage_);
    finished_ = true;
  } catch (Error const& error) {
    finish_failure_ = current_failure("finish", ErrorKind::device_refused);
    // Otherwise it is the loss of another device.
    if (error.sticky() && device_.lost()) queue_.lose("", error.what());
  } catch (...) {
    finish_failure_ = current_failure("finish", ErrorKind::device_refused);
  }
}

/// Leaves the stage with an abandoned device, too. But a finished one has its result on the host, to be merged: it must
/// only not be destroyed before the device ends.
void Lane::let_go() {
  queue_.let_go(device_.abandoned() && !finished_ ? std::move(stage_) : nullptr);
}

}  // namespace penstock
