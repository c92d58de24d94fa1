// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "penstock/device.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/figure_arguments.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/measure/axis.hpp"
#include "programs/measure/pace.hpp"

namespace penstock::cli {

/// Adds `--name` for an option of a job. Its values go to `values`: one, or all of an option that takes several; none
/// if it is not named or empty.
CLI::Option* add_own_option(CLI::App& command, JobOption const& option, std::vector<std::string>& values);

/// The options that name the axes of a sweep: `--producers`, `--tile` and so on, each a list.
struct AxisOptions {
  Job const* job = nullptr;                  ///< The job whose axes they are, as in Setting::job.
  std::map<std::string, std::string> lists;  ///< Lists by axis, as asked for.
  /// Values by option of the job that takes no list; none if the option was not named.
  std::map<std::string, std::vector<std::string>> plain;
  std::vector<std::string> devices{"auto"};  ///< Devices as named; an axis if there are several.
  SlowerOption slower;
  ProfileOption profile;
  std::set<std::string> from_profile;  ///< The axes that the profile sets.

  /// `presets` are default lists that differ from those of bench.
  void add_to(CLI::App& command, std::map<std::string, std::string> const& presets = {});
  /// Adds `--device`, which is named once for each value, since a value may itself have commas, and `--slower`.
  void add_devices_to(CLI::App& command);
  /// Adds the options of the job that take no list.
  void add_plain_to(CLI::App& command);
  /// The setting that all points begin with.
  ///
  /// Throws: Error of kind bad_argument, if an option of the job does not take its value.
  measure::Setting begin() const;
  /// The files that the job's options name, for FilesToWrite: those that it reads, and those that it writes.
  std::vector<NamedFile> inputs() const;
  std::vector<NamedFile> outputs() const;
  /// Throws: Error, if the job says that a point cannot be done.
  void check(std::span<measure::Point const> points) const;
  /// Sets an axis to this value alone.
  void set(std::string const& axis, std::string const& value);
  /// Adds `--profile`, which sets every axis that is not named.
  void add_profile_to(CLI::App& command);
  /// Throws: Error of kind bad_argument, if a list is not valid, or a combination of values is not possible.
  std::vector<measure::Axis> axes() const;
  /// Prints the size_remark on the tiles on standard error.
  void remark_on_sizes() const;
  /// Names in `--device`, each as open_devices takes it.
  ///
  /// Throws: as SlowerOption::applied_to.
  std::vector<std::string> wishes() const;
  /// The same as arguments of a command: "--producers", "1,2", and so on. Sizes are in bytes: remarks on them were
  /// made.
  std::vector<std::string> arguments() const;
  /// Adds the options that `plain` has.
  void add_plain(std::vector<std::string>& words) const;

 private:
  std::vector<measure::AxisKind> kinds() const;
  std::vector<NamedFile> named_by(bool JobOption::*kind) const;
};

/// Arguments that `bench` and `compare` share: which points, on what, for how long, and where the results go.
struct SweepArguments {
  /// Chooses the factor of a clock, as measure::choose_factor.
  using ChooseFactor = std::optional<unsigned> (*)(std::span<std::string const> wishes,
                                                   std::span<measure::Point const> points, std::stop_token const& stop);
  /// Runs of a point on a model, and their window, where none are named: modelled time varies less than a machine's.
  static constexpr unsigned runs_on_models = 3, milliseconds_on_models = 12;

  AxisOptions axes;
  unsigned milliseconds = 200;  ///< Duration of the part of each run that counts.
  FigureArguments figures;
  std::string command_line;  ///< Command line as the user wrote it, for the results.

  /// `presets` are default lists that differ from those of bench.
  void add_to(CLI::App& command, std::map<std::string, std::string> const& presets = {});
  /// True if it is on models of GPUs.
  ///
  /// Throws: as AxisOptions::wishes.
  bool on_models() const;
  /// For a sweep on models: sets the window and the factor of the clock, unless they are named. Says on standard error
  /// which factor it chose, and how long `to_come` takes, of which it sets the rest.
  ///
  /// Blocks: as `choose`, if it is called.
  /// Throws: as `choose`.
  void suit_models(std::span<measure::Point const> points, measure::SweepToCome to_come, ChooseFactor choose,
                   std::stop_token const& stop);
  /// True if `suit_models` chose the factor.
  bool chose_factor() const noexcept { return paced_.has_value(); }
  /// After a run on a late clock, of which `late` is the remark: raises the factor, if `suit_models` chose it and there
  /// is time left for the sweep on another. Says so on standard error.
  ///
  /// Returns: true if it did, and the sweep begins again.
  bool raise_factor(std::string_view late);
  /// The command that measures each point of `points` once, in its own process and without other measurements, and
  /// prints the results as JSON; `order` is that of SweepOptions. Results of a user's job have a digest only
  /// `with_digests`.
  std::vector<std::string> one_round(std::string const& program, AxisOptions const& points, unsigned order,
                                     bool with_digests = false) const;
  /// The command that measures the points with the numbers `only` once, with latency, ceilings and verdict.
  std::vector<std::string> judged_round(std::string const& program, AxisOptions const& points,
                                        std::span<std::size_t const> only) const;
  /// Page and trace, "--html" and "--trace".
  ///
  /// Blocks: as FilesToWrite.
  /// Throws: likewise; and as TraceArguments::check.
  FilesToWrite files_to_write(TraceArguments const& trace, std::stop_token const& stop) const;
  /// Says on standard error if the profile, if there is one, was made for another machine, device or (if it matters)
  /// flavour. A separate process checks it, since a command that measures in other processes opens no device meanwhile.
  void warn_of_foreign_profile(std::optional<Flavour> flavour, std::stop_token const& stop) const;

 private:
  /// Arguments that both commands need for a round.
  std::vector<std::string> round(std::string const& program, AxisOptions const& points) const;

  CLI::Option const* window_ = nullptr;
  std::optional<measure::SweepToCome> paced_;         ///< The sweep, if its factor was chosen,
  std::chrono::steady_clock::time_point paced_from_;  ///< when it began,
  double paced_for_ = 0;                              ///< and how many seconds it may take.
};

}  // namespace penstock::cli
