// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/core/own_process.hpp"
#include "engine/core/pool.hpp"
#include "engine/core/rundown.hpp"
#include "engine/core/say.hpp"
#include "engine/flow/feed_waits.hpp"
#include "engine/flow/kept_awake.hpp"
#include "engine/flow/pipeline_calls.hpp"
#include "engine/flow/producers.hpp"
#include "engine/flow/run.hpp"
#include "engine/flow/tile_memory.hpp"
#include "engine/machine/host_load.hpp"
#include "engine/machine/topology.hpp"
#include "engine/plan/plan.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {

/// Adds optional parts to a report. If `add` throws, the message hook is told, and the report is returned without
/// them.
template <class Add>
void add_to_report(Add const& add) noexcept {
  try {
    add();
  } catch (std::bad_alloc const&) {
    say("the report of a run lacks remarks and what describes its machine, since there was no memory for them: free "
        "memory, or raise the limit (ulimit -v).");
  } catch (std::exception const& exception) {
    say("the report of a run lacks remarks and what describes its machine: %s", exception.what());
  } catch (...) {
    say("the report of a run lacks remarks and what describes its machine.");
  }
}

/// State that a pipeline keeps from run to run, and the run in progress.
///
/// Threads: `current`, `snapshot`, `fed` any; the rest is for the pipeline's own.
struct Pipeline::Parts {
  /// Throws: as Pipeline.
  Parts(std::vector<Device*> driven, PipelineOptions wanted, std::stop_token const& stop);

  /// Makes lanes and stages; from here on other threads find the run.
  ///
  /// Throws: as Pipeline::run.
  std::shared_ptr<Run> open_run(Input input, Stages stages, Sink sink);
  void close_run();
  /// Does what Pipeline::drain promises.
  Report drain(std::function<void()> const& hand_in_rest);
  /// True on a thread that runs kernels or callbacks of one of the devices.
  bool is_thread_of_a_device() const noexcept;
  /// Stops the run in progress, and any that is being made at this moment.
  void stop_for_good() noexcept;
  /// The run in progress; or null.
  std::shared_ptr<Run> current();
  /// Does what Pipeline::snapshot promises.
  Snapshot snapshot();
  /// The run that takes tiles from a Feed.
  ///
  /// Throws: Error that says why there is none: of kind ended, if the last one was drained.
  std::shared_ptr<Run> fed();
  /// Adds what only the pipeline knows: its remarks, where these threads and its tiles are, and which device did what.
  void complete(Report& report, std::vector<PlacedThreads> const& threads) const;
  /// Has the hooks add what they have to add.
  ///
  /// Blocks: as they do.
  void tell_hooks(Report& report, Run const& run) const;
  void add_load(Report& report) const;
  /// The run as the hooks see it.
  HookedRun hooked(Stages const& stages, std::stop_token stopped = {}) const;

  OwnProcess const process;
  std::vector<Device*> const devices;
  std::vector<std::string> const device_names;  ///< Name of each; a lost one no longer says what it is.
  Topology const topology;
  StepLog const* const users_recorder;  ///< Null for none; hooks may bring one of their own.
  std::vector<std::unique_ptr<RunHook>> const hooks;
  std::unique_ptr<HostLoad> load;  ///< Load since the run began; null unless it is recorded.
  KeptAwake awake;
  Plan const plan;  ///< Made once, since a device that is lost says no more what it is.
  TileMemory memory;
  Pool pool;
  FeedWaits feed_waits;
  std::vector<TileRecord> records;
  std::shared_ptr<PipelineCalls> const calls = std::make_shared<PipelineCalls>();
  /// Threads that feed the run come in here, and find it below.
  Rundown open_input{false};
  std::atomic<Run*> fed_run{nullptr};  ///< The one that is open to them. Lives while a thread that found it is in.

 private:
  std::shared_ptr<Run> make_run(Input input, Stages stages, Sink sink);

  std::mutex mutex_;
  std::shared_ptr<Run> run_;
  bool one_lane_ = false;             ///< Its stage sees all tiles in their sequence.
  std::uint64_t runs_ = 0;            ///< Runs that were there so far.
  Input last_input_ = Input::pulled;  ///< That of the last of them.
  bool starting_ = false;             ///< A run is being made.
  bool ending_ = false;               ///< Every run is to end.
};

}  // namespace penstock
