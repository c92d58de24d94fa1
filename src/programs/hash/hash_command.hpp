// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/report.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/figure_arguments.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/command/progress.hpp"
#include "programs/hash/hash_job.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// `penstock hash`: prints what b3sum prints, by way of a pipeline.
struct HashCommand {
  PipelineArguments pipeline;
  TraceArguments trace;
  std::vector<std::string> paths;
  bool check = false;
  bool quiet = false;
  bool no_names = false;
  FigureArguments figures;
  bool no_progress = false;
  std::string ledger;                  ///< Empty: none.
  std::string shard;                   ///< "3/16", or "auto"; empty: all.
  unsigned workers = 0;                ///< Processes that share the ledger; 0: this one alone.
  bool as_worker = false;              ///< It is one of them.
  std::vector<std::string> arguments;  ///< Those of the program, for workers.
  std::string command_line;            ///< Command line as the user wrote it, for the page.

  /// The paths; standard input if there are none.
  std::vector<std::string> inputs() const;
  void add_to(CLI::App& command);
  using OpenDevices = std::function<Devices()>;

  /// Opens the devices, then does what `run_on` does. If the device probably takes some time and the user did not ask
  /// for a particular one, it does what `run_after_head_start` does.
  ///
  /// Throws: Error, if it cannot start; and as run_on.
  ExitCode run(StandardOutput& output, Interrupt const& interrupt);
  /// Hashes on these devices, whatever `pipeline` names, and prints. A request of `interrupted` ends it early, and so
  /// does an output that takes no more. Trace and page go to `files`.
  ///
  /// Blocks: until all is hashed, or what was under way when it was interrupted.
  /// Throws: Error, if it cannot start, if a device was lost, though others went on, or if the machine broke off the
  /// run.
  ExitCode run_on(DeviceGroup const& devices, StandardOutput& output, HashFiles const& files,
                  std::stop_token const& interrupted) const;
  /// Lets the CPUs hash until `open`, on a separate thread, has opened the devices, which then do the rest. No trace is
  /// made. If the input ends first this does not wait for the devices: the destructor does.
  ///
  /// Blocks: as run_on.
  /// Throws: as run_on, and what `open` throws, unless the input ended before; what was hashed by then was printed.
  ExitCode run_after_head_start(OpenDevices const& open, StandardOutput& output, std::stop_token const& interrupted,
                                OutputFile* page = nullptr);
  /// True while the destructor would wait for a device that is not needed any more.
  bool leaves_device_starting() const;

 private:
  struct Started;
  Shard own_shard() const;
  std::string own_ledger() const;
  ExitCode supervise_workers(StandardOutput& output, Interrupt const& interrupt) const;
  bool leaves_choice() const;
  bool groups_small_files() const;
  bool takes_head_start() const;
  PipelineOptions options() const;
  HashRequest request(std::size_t tile_bytes, HashFiles const& files) const;
  Report run_through(Pipeline& pipe, HashJob& job, DeviceGroup const& devices,
                     std::stop_token const& interrupted) const;
  ExitCode end_of(Report const& report, HashJob& job, DeviceGroup const* devices,
                  std::stop_token const& interrupted) const;

  std::future<std::shared_ptr<Started>> starting_;  ///< Set during a head start.
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
