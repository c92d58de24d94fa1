// SPDX-License-Identifier: Apache-2.0
#include "programs/jobs/ledger_run.hpp"

#include "penstock/error.hpp"

#ifdef PENSTOCK_WITH_LEASE
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "lease/lease_keeper.hpp"

#include "penstock/lease/open_ledger.hpp"
#include "penstock/pipeline.hpp"
#include "programs/jobs/job_leases.hpp"
#include "programs/measure/work_stages.hpp"
#include "programs/work/ledger_status.hpp"
#endif

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

#ifdef PENSTOCK_WITH_LEASE
namespace {

/// Leases that are taken together. Each has enough for a run, and other processes need some as well.
constexpr std::size_t job_leases_at_once = 2;

/// A source that only shows of which kind it is.
class NoTiles final : public Source {
 public:
  bool next(Tile&) override { return false; }
  std::size_t fill(Tile&) override { return 0; }
};

JobWork work_for(measure::Setting const& setting, std::stop_token const& stop) {
  JobWork work = measure::work_of(setting, nullptr, stop);
  if (!work.partial || !work.add_partial)
    throw Error(ErrorKind::bad_argument,
                "The job divides its input and adds up no parts: let Job::make set JobWork::partial and add_partial.");
  if (work.reopen)
    throw Error(
        ErrorKind::bad_argument,
        "--ledger has work of its own for each lease, and this job reopens files (JobWork::reopen), which would be "
        "those of one of them: leave out --ledger.");
  return work;
}

/// The ledger, if it is there, is that of this work, and has its leases; else null.
std::unique_ptr<Ledger> filled_ledger(std::string const& where, LedgerOptions options) {
  options.opening = LedgerOpening::existing;
  try {
    auto ledger = open_ledger(where, std::move(options));
    return ledger->progress().closed ? std::move(ledger) : nullptr;
  } catch (Error const& refused) {
    if (refused.kind() == ErrorKind::bad_argument) return nullptr;
    throw;
  }
}

std::string loss_of(Report const& report) {
  for (DeviceSummary const& device : report.devices) {
    if (!device.loss.empty()) return device.name + " was lost: " + device.loss;
  }
  return "";
}

std::string shortage_of(JobAnswer const& answer) {
  for (Failure const& failure : answer.failures) {
    if (is_shortage(failure.reason)) return failure.reason;
  }
  return "";
}

}  // namespace

class LedgerRun::Parts {
 public:
  Parts(SharedWork const& shared, measure::Setting wanted, std::stop_token stop)
      : wanted_(std::move(wanted)), stop_(std::move(stop)), begun_(std::chrono::steady_clock::now()) {
    Job const& job = wanted_.its_job();
    JobPoint const point = wanted_.point();
    LedgerOptions const options{.purpose = purpose_of(job, point), .most_tries = most_tries_of_work};
    bool const fills = shared.role != LedgerRole::worker;
    // One that has its leases gets no more, so the input, which may be large or gone by now, is not divided again.
    if (fills) ledger_ = filled_ledger(shared.path, options);
    if (ledger_ == nullptr) {
      // Options that cannot be had are refused before there is a ledger.
      std::vector<LeaseWork> leases;
      if (fills) leases = leases_of(job.parts(point, shared.part_bytes), shared.path, shared.part_bytes);
      ledger_ = open_ledger(shared.path, options);
      // Where another process was faster, the ledger has these leases already.
      if (fills) ledger_->enqueue(leases, true);
    }
    if (shared.role != LedgerRole::supervisor)
      keeper_.emplace(*ledger_, LeaseSourceOptions{.leases = job_leases_at_once, .stop = stop_});
    before_ = ledger_->progress();
  }

  Ledger& ledger() noexcept { return *ledger_; }

  void work(DeviceGroup const& devices, measure::TrialOptions const& options) {
    measure::TrialOptions each;
    each.moved = [this] { keeper_->moved(); };
    NoTiles no_tiles;
    std::unique_ptr<Pipeline> pipeline;
    std::shared_ptr<void> beside;  // It looks at the pipeline.
    std::optional<Error> problem;
    while (auto const lease = problem ? std::nullopt : keeper_->next()) {
      PartsNow parts = parts_now(lease->work.payload);
      if (parts.same.empty()) {
        acknowledge(*lease, {}, parts);
        continue;
      }
      measure::Setting part = wanted_;
      part.parts = parts.same;
      JobWork work = work_for(part, stop_);
      if (pipeline == nullptr || !work.host_stages.empty()) {
        beside = nullptr;
        pipeline = nullptr;  // There need not be room for two.
        PipelineOptions wanted = part.options();
        wanted.host_stages = work.host_stages;
        pipeline = std::make_unique<Pipeline>(devices, wanted, stop_);
        if (options.beside) beside = options.beside(*pipeline, no_tiles, work);
      }
      measure::JobRun const run = measure::run_input(*pipeline, part, work, each, stop_);
      problem = settle(*lease, run, work, parts);
    }
    keeper_->finish();
    if (problem) throw Error(*problem);
  }

  LeasesSoFar so_far() {
    LedgerProgress const now = ledger_->progress();
    double const per_second = leases_per_second(std::exchange(before_, now), now);
    return {.words = leases_text(now, per_second), .part = settled_part(now)};
  }

  bool finished() { return ledger_->progress().finished(); }

  measure::JobRun results() {
    JobWork const work = work_for(wanted_, stop_);
    measure::JobRun whole{.report = {}, .options = wanted_.options()};
    each_result(
        *ledger_, 1,
        [&](LeaseAnswer const& one) {
          JobAnswer const answer = answer_of(one.answer);
          add_answer(answer, whole.report);
          whole.items += answer.items;
          if (!answer.partial.empty()) work.add_partial(answer.partial);
        },
        [&](ParkedLease const& one) { add_parked(one, whole.report); });
    conclude(whole, work);
    whole.report.wall = std::chrono::steady_clock::now() - begun_;
    return whole;
  }

 private:
  /// Says what a run on these parts of a lease came to. Returns why this process should take no more.
  std::optional<Error> settle(Lease const& lease, measure::JobRun const& run, JobWork const& work,
                              PartsNow const& parts) {
    Report const& report = run.report;
    report.unread.mark_read();  // The ledger gets all of it.
    if (std::string const loss = loss_of(report); !loss.empty()) {
      settle(lease, Settlement::Kind::suspect, loss);
      return Error(ErrorKind::device_lost, loss);
    }
    JobAnswer const answer = answer_for(report, run.items, report.stopped ? "" : work.partial());
    std::string const shortage = shortage_of(answer);
    if (report.stopped || !shortage.empty()) {
      settle(lease, Settlement::Kind::give_back, "");
      return shortage.empty() ? std::nullopt : std::optional(Error(ErrorKind::system, shortage));
    }
    // A file that was written while it was read is left out of the next try.
    if (parts_now(lease.work.payload).same.size() != parts.same.size())
      settle(lease, Settlement::Kind::give_back, "");
    else
      acknowledge(lease, answer, parts);
    return std::nullopt;
  }
  void acknowledge(Lease const& lease, JobAnswer answer, PartsNow const& parts) {
    answer.failures.insert(answer.failures.end(), parts.changed.begin(), parts.changed.end());
    settle(lease, Settlement::Kind::acknowledge, text_of(answer));
  }
  void settle(Lease const& lease, Settlement::Kind kind, std::string text) {
    keeper_->settle({.kind = kind, .number = lease.number, .tries = lease.tries, .text = std::move(text)});
  }

  measure::Setting const wanted_;
  std::stop_token const stop_;
  std::chrono::steady_clock::time_point const begun_;
  std::unique_ptr<Ledger> ledger_;
  std::optional<LeaseKeeper> keeper_;
  LedgerProgress before_;  ///< As `so_far` saw it last.
};

LedgerRun::LedgerRun(SharedWork const& shared, measure::Setting wanted, std::stop_token const& stop)
    : parts_(std::make_unique<Parts>(shared, std::move(wanted), stop)) {}

Ledger& LedgerRun::ledger() {
  return parts_->ledger();
}
#else
class LedgerRun::Parts {
 public:
  void work(DeviceGroup const&, measure::TrialOptions const&) {}
  LeasesSoFar so_far() { return {}; }
  bool finished() { return false; }
  measure::JobRun results() { return {}; }
};

LedgerRun::LedgerRun(SharedWork const&, measure::Setting, std::stop_token const&) {
  refuse_ledgers();
}
#endif

LedgerRun::~LedgerRun() = default;

void LedgerRun::work(DeviceGroup const& devices, measure::TrialOptions const& options) {
  parts_->work(devices, options);
}

LeasesSoFar LedgerRun::so_far() {
  return parts_->so_far();
}

bool LedgerRun::finished() {
  return parts_->finished();
}

measure::JobRun LedgerRun::results() {
  return parts_->results();
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
