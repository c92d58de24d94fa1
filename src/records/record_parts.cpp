// SPDX-License-Identifier: Apache-2.0
#include "records/record_parts.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "engine/core/say.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// One tile each in upload, stage and download.
constexpr std::size_t hungry_tiles_a_lane = 3;
constexpr std::chrono::microseconds longest_linger = std::chrono::hours(24);

std::size_t hungry_below(RecordOptions const& options, PipelineOptions const& pipeline) {
  if (options.hungry_below > 0) return options.hungry_below;
  return std::clamp<std::size_t>(pipeline.tuning.tiles / 2, 1, pipeline.lanes * hungry_tiles_a_lane);
}

/// The user's stage for records, as a stage of the pipeline.
class PackedStage final : public Stage {
 public:
  PackedStage(std::unique_ptr<RecordStage> stage, Packing const& packing, std::vector<Pack> const& packs)
      : stage_(std::move(stage)), packing_(packing), packs_(packs) {}
  void prepare(StreamRef stream) override { stage_->prepare(stream); }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    Pack const& pack = pack_of(tile);
    stage_->run(packing_.on_device(pack, tile), stream);
    return packing_.produced(pack);
  }
  Promises promises() const noexcept override { return stage_->promises(); }
  std::uint64_t variant(DeviceTile const& tile) const override { return Packing::variant(pack_of(tile)); }
  void finish(StreamRef stream) override { stage_->finish(stream); }
  RecordStage& users() noexcept { return *stage_; }

 private:
  Pack const& pack_of(DeviceTile const& tile) const {
    if (tile.tag < packs_.size() && packs_[tile.tag].count() > 0) return packs_[tile.tag];
    throw Error(ErrorKind::bad_argument,
                "The tag of a tile of records was changed, or the tile has none: leave tags as they are, and let "
                "nothing else feed the pipeline.");
  }

  std::unique_ptr<RecordStage> const stage_;
  Packing const& packing_;
  std::vector<Pack> const& packs_;
};

Pipeline& expect_no_host_stages(Pipeline& pipeline) {
  if (!pipeline.options().host_stages.empty()) {
    throw Error(ErrorKind::bad_argument,
                "Host stages see tiles and know nothing of records: give records a pipeline without.");
  }
  return pipeline;
}

}  // namespace

Records::Parts::Parts(Pipeline& fed, RecordOptions const& options)
    : pipeline(expect_no_host_stages(fed)),
      packing(fed.options().tile, options),
      packs(fed.pool().size()),
      departures(
          {.hungry_below = hungry_below(options, fed.options()),
           .least_bytes = options.least_bytes,
           .linger = std::min(options.linger, longest_linger)},
          [this](Pack& pack, Departure why) { send(pack, why); },
          [this](Pack& claimed, Pack* empty) { return divide(claimed, empty); }) {
  departures.close();
}

void Records::Parts::start(RecordStages stages, RecordSink told, RecordTileSink told_by_tiles) {
  if (!stages.make) {
    throw Error(ErrorKind::bad_argument,
                "There is no stage: give the records one, with on_device or record_stage_per_lane, say.");
  }
  if (clock.joinable()) {
    throw Error(ErrorKind::bad_argument, "The records are running already: drain them first, or make others.");
  }
  sink = std::move(told);
  sink_of_tiles = std::move(told_by_tiles);
  departures.begin_watch();
  BoundThread watch("ps-linger", {}, [this](std::stop_token const&) { departures.watch(); });
  try {
    pipeline.start(stages_for(std::move(stages)), [this](Completion& completion) {
      struct Spare {
        Parts& parts;
        Completion& of;
        ~Spare() { parts.spare(std::move(of.loan)); }
      } const spare_it{*this, completion};  // Done even if a sink throws.
      deliver(completion);
    });
  } catch (...) {
    departures.end_watch();
    forget_sinks();
    throw;
  }
  clock = std::move(watch);
  departures.reopen();
}

RecordReport Records::Parts::drain() {
  if (!clock.joinable()) throw Error(ErrorKind::bad_argument, "The records are not running: start them first.");
  bool over = false;
  try {
    Report tiles = pipeline.drain([&] {
      over = true;
      departures.close();
    });
    return wind_up(std::move(tiles));
  } catch (...) {
    // The user may have drained the pipeline itself, which ends this run, too.
    if (!over && !pipeline.running()) {
      over = true;
      departures.close();
    }
    if (over) wind_up({});
    throw;
  }
}

RecordReport Records::Parts::wind_up(Report tiles) noexcept {
  end_clock();
  forget_sinks();
  return report_on(std::move(tiles));
}

void Records::Parts::forget_sinks() noexcept {
  sink = nullptr;
  sink_of_tiles = nullptr;
}

void Records::Parts::end_clock() noexcept {
  departures.end_watch();
  clock = BoundThread();
}

Stages Records::Parts::stages_for(RecordStages stages) {
  return {.make =
              [this, make = std::move(stages.make)](StageContext const& context) {
                auto made = make(context);
                if (made == nullptr) throw Error(ErrorKind::bad_argument, "The function that makes stages made none.");
                return std::make_unique<PackedStage>(std::move(made), packing, packs);
              },
          .merge =
              [merge = std::move(stages.merge)](Stage& stage) {
                if (merge) merge(static_cast<PackedStage&>(stage).users());
              },
          .order = std::move(stages.order)};
}

Pack* Records::Parts::take_up(Desk& desk, std::size_t bytes, std::size_t records, bool may_wait) {
  packing.expect_room(bytes, records);
  std::optional<Pack*> const taken = departures.take_up(desk);
  if (!taken) {
    if (!may_wait) return nullptr;
    throw Error(ErrorKind::bad_argument, "No more records are taken: they were not started, or were drained.");
  }
  Pack* pack = *taken;
  if (pack != nullptr && packing.has_room(*pack, bytes, records)) return pack;
  if (pack != nullptr) departures.send(*pack, Departure::full);
  Feed feed = pipeline.feed();
  Loan loan;
  try {
    loan = may_wait ? feed.borrow() : feed.try_borrow().value_or(Loan());
  } catch (...) {
    departures.put_down(desk, nullptr);
    throw;
  }
  if (!loan) {
    departures.put_down(desk, nullptr);
    return nullptr;
  }
  Pack& fresh = packs[loan->index()];
  fresh.open(std::move(loan));
  return &fresh;
}

void Records::Parts::put_down(Desk& desk, Pack& pack) noexcept {
  if (pack.count() > 0) return departures.put_down(desk, &pack);
  // The pack has no records: another writer may need the tile.
  Loan loan = std::move(pack.loan);
  departures.put_down(desk, nullptr);
  spare(std::move(loan));
}

Pack* Records::Parts::divide(Pack& claimed, Pack* empty) noexcept {
  if (empty == nullptr) {
    try {
      Loan loan = pipeline.feed().try_borrow().value_or(Loan());
      if (!loan) return nullptr;
      empty = &packs[loan->index()];
      empty->open(std::move(loan));
    } catch (std::exception const&) {
      return nullptr;  // The caller tries again.
    }
  }
  Packing::move(claimed, *empty);
  return empty;
}

void Records::Parts::spare(Loan loan) noexcept {
  if (!loan) return;
  Pack& empty = packs[loan->index()];
  empty.open(std::move(loan));
  if (!departures.send_wanted(empty)) empty.loan.give_back();
}

void Records::Parts::send(Pack& pack, Departure why) noexcept {
  packing.close(pack);
  // Relaxed, as all counts: they are read after the end.
  counts_.left.at(static_cast<std::size_t>(why)).fetch_add(1, std::memory_order_relaxed);
  Loan loan = std::move(pack.loan);
  loan->tag = loan->index();
  try {
    Completion refused = Completion::cancelled({});
    try {
      if (pipeline.feed().try_submit(loan)) return;  // False only if the pipeline itself was drained.
    } catch (std::exception const& exception) {
      if (!loan) throw;
      refused =
          Completion::failed({}, std::make_shared<Failure>(Failure{"source", exception.what(), ErrorKind::system}));
    }
    refused.loan = std::move(loan);
    deliver(refused);
  } catch (std::exception const& exception) {
    say("a tile of records could not be submitted, or its sink threw: %s", exception.what());
  } catch (...) {
    say("a tile of records could not be submitted, and its sink threw something.");
  }
}

void Records::Parts::deliver(Completion const& completion) {
  Pack const& pack = packs[completion.loan->index()];
  if (pack.count() == 0) {
    return say("a tile without records was in a pipeline of Records: let nothing else feed the pipeline meanwhile.");
  }
  departures.returned();
  count(pack, completion.outcome);
  RecordCompletions const all =
      packing.completions(pack, *completion.loan, completion.outcome, completion.failure.get());
  std::exception_ptr thrown;
  auto const tell = [&](auto const& told, auto const& what) {
    try {
      told(what);
    } catch (...) {
      if (thrown == nullptr) thrown = std::current_exception();
    }
  };
  if (pack.listened || sink) {
    for (std::uint32_t number = 0; number < all.size(); ++number) {
      RecordCompletion const one{all.tag(number), all.outcome(), all.output(number), all.failure()};
      if (RecordListener* const listener = pack.entries[number].listener) {
        tell([listener](RecordCompletion const& record) { listener->complete(record); }, one);
      } else if (sink) {
        tell(sink, one);
      }
    }
  }
  if (sink_of_tiles) tell(sink_of_tiles, all);
  if (thrown != nullptr) std::rethrow_exception(thrown);
}

void Records::Parts::count(Pack const& pack, Outcome outcome) noexcept {
  auto const add = [](std::atomic<std::uint64_t>& to, std::uint64_t more) {
    to.fetch_add(more, std::memory_order_relaxed);
  };
  switch (outcome) {
    case Outcome::done:
      add(counts_.done, pack.count());
      add(counts_.bytes_in, pack.bytes);
      add(counts_.bytes_out, packing.result_bytes(pack));
      break;
    case Outcome::failed:
      add(counts_.failed, pack.count());
      break;
    case Outcome::cancelled:
      add(counts_.cancelled, pack.count());
      break;
  }
}

RecordReport Records::Parts::report_on(Report tiles) noexcept {
  auto const take = [](std::atomic<std::uint64_t>& count) { return count.exchange(0, std::memory_order_relaxed); };
  RecordReport report{.done = take(counts_.done),
                      .failed = take(counts_.failed),
                      .cancelled = take(counts_.cancelled),
                      .bytes_in = take(counts_.bytes_in),
                      .bytes_out = take(counts_.bytes_out),
                      .tiles = std::move(tiles)};
  for (std::size_t why = 0; why < report.left.size(); ++why) report.left.at(why) = take(counts_.left.at(why));
  return report;
}

}  // namespace penstock
