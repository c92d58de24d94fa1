// SPDX-License-Identifier: Apache-2.0
#include "penstock/lease/workers.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <list>
#include <mutex>

#include "lease/ledger_look.hpp"
#include "lease/supervised_process.hpp"
#include "lease/worker_lines.hpp"
#include "lease/worker_patience.hpp"
#include "lease/worker_text.hpp"
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "engine/core/say.hpp"

namespace penstock {
namespace {

using Time = std::chrono::steady_clock::time_point;

/// A worker that lived for so long is started again at once, also if it answered nothing.
constexpr std::chrono::seconds long_life{10};
/// Longest time for which a place stays empty until the ledger was looked at.
constexpr std::chrono::milliseconds longest_look{500};

/// A place for one worker, and the process that has it.
struct WorkerPlace {
  WorkerPlace(unsigned of, WorkersOptions const& options)
      : number(of), pause(options.shortest_pause, options.longest_pause) {}

  unsigned const number;
  std::unique_ptr<SupervisedProcess> process = {};
  std::optional<WorkerPatience> patience = {};
  WorkerPause pause;
  std::uint64_t started = 0;
  Time begun = {}, ended = {};
  std::optional<Time> start_at = {};  ///< Another process is to be started then.
  std::uint64_t asked = 0;            ///< The look at the ledger behind the end.
  bool hangs = false;                 ///< The process was killed for that.
  bool is_over = false;
};

}  // namespace

class Workers::Parts {
 public:
  Parts(Ledger& ledger, WorkersOptions options)
      : ledger_(ledger),
        options_(std::move(options)),
        tick_(std::clamp<std::chrono::nanoseconds>(options_.patience / 16, std::chrono::milliseconds(5),
                                                   std::chrono::seconds(1))),
        woken_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (options_.command.empty() || options_.workers == 0)
      throw Error(ErrorKind::bad_argument, "Workers need a command, and there must be one or more of them.");
    if (options_.output == nullptr)
      options_.output = [](std::string_view lines) { return write_all(STDOUT_FILENO, lines); };
    if (options_.complaint == nullptr) options_.complaint = complain_of;
    for (unsigned k = 1; k <= options_.workers; ++k) places_.emplace_back(k, options_);
  }

  WorkersEnd run(std::stop_token const& stop) {
    std::stop_callback const wake_up(stop, [this] { wake(); });
    WorkerLines lines({.output = [this](std::string_view some) { pass_on(some); }, .complaint = options_.complaint});
    LedgerLook look(ledger_, [this] {
      if (options_.looked) options_.looked(snapshot());
      wake();
    });
    lines_ = &lines;
    {
      std::lock_guard const lock(mutex_);
      look_ = &look;
    }
    for (WorkerPlace& one : places_) one.start_at = std::chrono::steady_clock::now();
    while (!is_over()) {
      if (options_.beat) options_.beat();
      if (!ending_ && (stop.stop_requested() || output_lost_.load())) begin_end(WorkersEnd::stopped);
      if (auto const problem = look.seen().problem; problem != nullptr && !ending_) {
        problem_ = problem;
        begin_end(WorkersEnd::stopped);
      }
      Time const now = std::chrono::steady_clock::now();
      for (WorkerPlace& one : places_) attend_to(one, now);
      if (!is_over()) wait();
    }
    std::lock_guard const lock(mutex_);
    last_seen_ = look.seen();
    look_ = nullptr;
    if (problem_ != nullptr) std::rethrow_exception(problem_);
    return end_;
  }

  WorkersSnapshot snapshot() const {
    std::lock_guard const lock(mutex_);
    LedgerLook::Seen const seen = look_ != nullptr ? look_->seen() : last_seen_;
    WorkersSnapshot all{
        .replaced = replaced_, .hung = hung_, .ledger = seen.progress, .leases_per_second = seen.leases_per_second};
    for (WorkerPlace const& one : places_) {
      WorkerState& state =
          all.workers.emplace_back(WorkerState{.place = one.number, .started = one.started, .is_over = one.is_over});
      if (one.process == nullptr) continue;
      WorkerPage const& page = one.process->page();
      state.process = one.process->id();
      state.reports = page.reports.load(std::memory_order_relaxed) != 0;
      state.holds = page.held.load(std::memory_order_relaxed) != 0;
      state.moved = page.moved.load(std::memory_order_relaxed);
    }
    return all;
  }

 private:
  void wake() const noexcept { static_cast<void>(eventfd_write(woken_.number, 1)); }
  void pass_on(std::string_view lines) {
    if (output_lost_.load() || options_.output(lines)) return;
    output_lost_ = true;
    wake();
  }
  bool is_over() const {
    return std::ranges::all_of(places_, [](WorkerPlace const& one) { return one.is_over; });
  }

  /// Waits until a process ends, a stop is requested, the ledger was looked at, or the time for something has come.
  void wait() {
    Time until = std::chrono::steady_clock::now() + tick_;
    std::vector<pollfd> all{{woken_.number, POLLIN, 0}};
    for (WorkerPlace const& one : places_) {
      if (one.start_at) until = std::min(until, std::max(*one.start_at, one.ended + longest_look));
      if (one.start_at && *one.start_at > std::chrono::steady_clock::now()) until = std::min(until, *one.start_at);
      if (one.process == nullptr) continue;
      all.push_back({one.process->ended(), POLLIN, 0});
      constexpr std::chrono::milliseconds between_looks_without_descriptor{20};
      if (one.process->ended() < 0)
        until = std::min(until, std::chrono::steady_clock::now() + between_looks_without_descriptor);
    }
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    poll(all.data(), all.size(), static_cast<int>(std::max<std::int64_t>(0, left)));
    eventfd_t ignored = 0;
    static_cast<void>(eventfd_read(woken_.number, &ignored));
  }

  void attend_to(WorkerPlace& one, Time now) {
    if (one.process != nullptr) {
      if (auto const end = one.process->look()) {
        take_end(one, *end, now);
      } else if (ending_ && now >= kill_at_) {
        if (!std::exchange(one.hangs, true))
          say("Worker %u did not end within %s, and is killed.", one.number, in_seconds(options_.grace).c_str());
        one.process->kill();
      } else {
        judge(one, now);
      }
    }
    if (!one.start_at) return;
    if (one.started != 0 && was_looked_at(one) && look_->is_finished()) {
      std::lock_guard const lock(mutex_);
      one.start_at.reset();
      one.is_over = true;
    } else if (now >= *one.start_at) {
      start(one, now);
    }
  }

  bool was_looked_at(WorkerPlace const& one) const { return look_->seen().asked >= one.asked; }

  void judge(WorkerPlace& one, Time now) {
    WorkerSigns signs = signs_of(one.process->page());
    signs.waits = signs.waits || lines_->passes_on();
    signs.stopped = one.process->is_stopped();
    if (!one.patience->look(signs, now) || ending_) return;
    if (!one.hangs) {
      say("Worker %u (process %d) %s for %s. It is killed, and another takes its place.", one.number,
          static_cast<int>(one.process->id()), signs.stopped ? "was stopped" : "moved nothing of its leases",
          in_seconds(options_.patience).c_str());
      std::lock_guard const lock(mutex_);
      one.hangs = true;
      ++hung_;
    }
    one.process->kill();
  }

  void take_end(WorkerPlace& one, int end, Time now) {
    WorkerPage const& page = one.process->page();
    bool const was_of_use = page.answered.load(std::memory_order_relaxed) != 0 || now - one.begun >= long_life;
    lines_->end(one.number, end < 0);
    int const process = one.process->id();
    {
      std::lock_guard const lock(mutex_);
      one.process.reset();
      one.is_over = end == 0 || ending_ || end == bad_options;
    }
    one.asked = look_->ask();
    if (end == bad_options && !ending_) {
      say("Worker %u ended with code %d, as its options or settings are bad: all end.", one.number, bad_options);
      begin_end(WorkersEnd::refused);
    }
    if (one.is_over) return;
    std::uint64_t const ends_before = one.pause.ends();
    auto const pause = one.pause.after_end(was_of_use);
    one.ended = now;
    one.start_at = now + pause;
    if (pause.count() != 0 && ends_before == 1) {
      say("Worker %u %s, the second time without an answer. It is started again after %s, and after longer "
          "pauses up to %s while that goes on.",
          one.number, end_text(end).c_str(), in_seconds(pause).c_str(), in_seconds(options_.longest_pause).c_str());
    } else if (pause.count() == 0 && !one.hangs) {
      say("Worker %u (process %d) %s. Another takes its place.", one.number, process, end_text(end).c_str());
    }
  }

  /// Starts the process of a place, but not before the ledger was looked at, if that does not take long.
  void start(WorkerPlace& one, Time now) {
    if (one.started != 0 && !was_looked_at(one) && now < one.ended + longest_look) return;
    std::vector<std::pair<std::string, std::string>> variables;
    if (options_.environment) variables = options_.environment(one.number);
    variables.emplace_back("PENSTOCK_WORKER", std::to_string(one.number) + "/" + std::to_string(options_.workers));
    one.start_at.reset();
    try {
      auto process = std::make_unique<SupervisedProcess>(options_.command, variables);
      std::lock_guard const lock(mutex_);
      one.process = std::move(process);
      if (one.started++ != 0) ++replaced_;
    } catch (Error const& refused) {
      if (one.started == 0) {
        problem_ = std::current_exception();
        begin_end(WorkersEnd::stopped);
        return;
      }
      auto const pause = std::max(options_.shortest_pause, one.pause.after_end(false));
      say("Worker %u cannot be started again: %s It is tried after %s.", one.number, refused.what(),
          in_seconds(pause).c_str());
      one.start_at = now + pause;
      return;
    }
    one.patience.emplace(options_.patience, 2 * tick_, now);
    one.hangs = false;
    one.begun = now;
    // Behind the counts: where a line of the process is seen, a snapshot has the process.
    lines_->add(one.number, one.process->take_output(), one.process->take_complaint());
  }

  void begin_end(WorkersEnd end) {
    end_ = end;
    ending_ = true;
    kill_at_ = std::chrono::steady_clock::now() + options_.grace;
    std::lock_guard const lock(mutex_);
    for (WorkerPlace& one : places_) {
      one.start_at.reset();
      if (one.process != nullptr) {
        one.process->ask_to_end();
      } else {
        one.is_over = true;
      }
    }
  }

  Ledger& ledger_;
  WorkersOptions options_;
  std::chrono::nanoseconds const tick_;
  Descriptor const woken_;
  std::mutex mutable mutex_;  ///< For `snapshot`. Only the thread of `run` changes what it guards.
  std::list<WorkerPlace> places_;
  LedgerLook* look_ = nullptr;
  LedgerLook::Seen last_seen_;
  std::uint64_t replaced_ = 0, hung_ = 0;
  WorkerLines* lines_ = nullptr;
  std::atomic<bool> output_lost_{false};
  WorkersEnd end_ = WorkersEnd::over;
  bool ending_ = false;
  Time kill_at_ = {};
  std::exception_ptr problem_;
};

Workers::Workers(Ledger& ledger, WorkersOptions options)
    : parts_(std::make_unique<Parts>(ledger, std::move(options))) {}

Workers::~Workers() = default;

WorkersEnd Workers::run(std::stop_token const& stop) {
  return parts_->run(stop);
}

WorkersSnapshot Workers::snapshot() const {
  return parts_->snapshot();
}

}  // namespace penstock
