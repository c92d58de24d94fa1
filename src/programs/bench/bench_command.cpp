// SPDX-License-Identifier: Apache-2.0
#include "programs/bench/bench_command.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/observe.hpp"
#include "programs/bench/bench_data.hpp"
#include "programs/bench/bench_output.hpp"
#include "programs/bench/bench_warnings.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/program.hpp"
#include "programs/command/results.hpp"
#include "programs/measure/pace_probe.hpp"
#include "programs/measure/traced_run.hpp"
#include "programs/measure/trial.hpp"
#include "programs/page/results_page.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

void BenchCommand::add_to(CLI::App& command) {
  sweep.add_to(command);
  command_ = &command;
  auto& how_often =
      *command
           .add_option("--repeats", repeats,
                       "Runs of each point, each in a process of its own; half as many again where they stray.\n"
                       "Default: 9; of a model 3")
           ->type_name("N")
           ->check(whole_number(1, 100));
  add_former_option(command, "--rounds", how_often);
  command.add_flag("--one-process", one_process,
                   "Run all in this process, as for a profiler: how far processes stray is not seen");
  command.add_option("--only", only)->delimiter(',')->group("");
  command.add_option("--order", order)->group("");
  command.add_option("--progress-begun", begun)->group("");
  command.add_flag("--no-points", no_points)->group("");
  command
      .add_option("--load", load,
                  "Part of its throughput at which a point's latency is taken; 0: not at all. Default: " +
                      formatted("%.1f", measure::SweepOptions::usual_load))
      ->type_name("PART")
      ->check(number_between(0, 1, "a part"));
  command.add_flag("--no-ceilings", no_ceilings, "Do not measure copies, kernel and filling alone");
  command.add_flag("--no-verdict", no_verdict, "Record no run of each point to judge it by");
  if (sweep.axes.job != nullptr)
    command.add_flag("--no-digests", no_digests, "Do not check that results are the same at all points");
  trace.add_to(command, "one more run of the fastest point");
  command.add_flag("--no-trace-cost", no_trace_cost, "Do not measure what recording costs, after --trace");
}

namespace {

/// The devices that each value of --device means.
struct OpenDevices {
  explicit OpenDevices(std::vector<std::string> const& names) : first_name(names.front()) {
    auto const models = std::ranges::count_if(names, [](auto const& name) { return name.starts_with("model:"); });
    if (models > 0 && static_cast<std::size_t>(models) < names.size()) {
      throw Error(
          ErrorKind::bad_argument,
          "A modelled GPU slows the clock of the process, so real devices would seem faster: give each a run of "
          "its own.");
    }
    for (std::string const& name : names) {
      opened.push_back(open_devices(name));
      by_name.emplace(name, opened.back());
    }
  }
  DeviceGroup const& first() const { return by_name.at(first_name); }
  bool lost() const {
    return std::any_of(by_name.begin(), by_name.end(), [](auto const& one) { return one.second.lost().has_value(); });
  }

  std::string first_name;
  std::vector<Devices> opened;
  measure::DevicesByName by_name;
};

/// Maximum number of passages, of 32 bytes each: a quarter of a second of two million tiles.
constexpr std::size_t most_room = std::size_t{1} << 23;

/// The part of its throughput that a pipeline keeps when one in `every` of its tiles is recorded, by `pairs` of runs
/// with and without, alternately. Empty if `stop` was requested, or if more tiles ran than can be recorded.
std::optional<measure::Spread> kept_when_traced(DeviceGroup const& devices, measure::Setting const& setting,
                                                measure::TrialOptions const& options, std::uint64_t every,
                                                unsigned pairs, std::stop_token const& stop) {
  std::vector<double> kept;
  std::size_t room = RecorderOptions{}.capacity;
  for (unsigned pair = 0; pair < pairs;) {
    Recorder recorder({.capacity = room, .every = every});
    measure::TrialOptions traced = options;
    traced.recorder = &recorder;
    // The first run of a pair finds the machine as the last pair left it, so the two kinds of run alternate in that
    // place.
    bool const traced_first = pair % 2 == 1;
    auto const first = run_trial(devices, setting, traced_first ? traced : options, stop);
    auto const second = run_trial(devices, setting, traced_first ? options : traced, stop);
    if (!first || !second) return std::nullopt;
    // A full recorder costs nothing.
    if (recorder.missed() > 0) {
      if (room >= most_room) return std::nullopt;
      room *= 2;
      continue;
    }
    ++pair;
    double const with = (traced_first ? first : second)->metered.tiles_per_second();
    double const without = (traced_first ? second : first)->metered.tiles_per_second();
    if (without > 0) kept.push_back(with / without);
  }
  if (kept.empty()) return std::nullopt;
  return measure::spread_of(kept);
}

/// Modelled copies and kernels take the same time again.
unsigned rounds_of_ceilings(bool on_models) {
  return on_models ? 1 : measure::SweepOptions{}.rounds_of_ceilings;
}

/// Number of runs of each point in this process.
std::size_t runs_here(measure::SweepOptions const& options) {
  return 1 + (options.ceilings ? options.rounds_of_ceilings : 0) + (options.load > 0 ? 1 : 0) +
         (options.judged ? 1 : 0) + (options.digests ? 1 : 0);
}

}  // namespace

std::vector<measure::Point> BenchCommand::points_of(std::span<measure::Axis const> axes) const {
  auto all = measure::points_of(axes, sweep.axes.begin());
  if (only.empty()) return all;
  std::vector<measure::Point> some;
  for (std::size_t const i : only) {
    if (i >= all.size()) throw Error(ErrorKind::bad_argument, "There is no point " + std::to_string(i) + ".");
    some.push_back(all[i]);
  }
  return some;
}

Apart BenchCommand::apart(std::vector<measure::Point> const& points, measure::SweepOptions const& options,
                          std::stop_token const& stop, RunProgress& progress) {
  std::string const program = this_program();
  std::size_t done = 0;
  std::optional<ProgressBegun> line;
  auto const command = [&](unsigned round, std::span<std::size_t const> some) {
    auto all = sweep.one_round(program, sweep.axes, round + 1);
    if (trace.nvtx) all.emplace_back("--nvtx");
    std::string list;
    for (std::size_t const i : some) list += (list.empty() ? "" : ",") + std::to_string(only.empty() ? i : only[i]);
    if (!list.empty()) all.insert(all.end(), {"--only", list});
    if (line) all.insert(all.end(), {"--progress-begun", line->option()});
    return all;
  };
  std::size_t const later = runs_here(options) * points.size();
  ApartOptions how{.least = options.least_repeats - 1, .most = options.most_repeats - 1, .enough = options.enough};
  if (all_here()) how.least = how.most = 1;
  how.begins_again = [&](std::string const& late) {
    done = 0;
    return sweep.raise_factor(late);
  };
  Apart rounds = rounds_apart(points, how, command, stop, [&](unsigned round, std::size_t runs) {
    std::size_t const all = std::max(points.size() * how.least, done + runs);
    progress.show(done, all + later, "process " + std::to_string(round + 1));
    line = progress.handed_on(done, all + later);
    done += runs;
  });
  if (all_here()) rounds.results.clear();
  return rounds;
}

bool BenchCommand::all_here() const noexcept {
  return one_process || repeats == 1 || no_points;
}

BenchCommand BenchCommand::filling() const {
  BenchCommand here = *this;
  auto const axes = sweep.axes.axes();
  auto const producers = std::ranges::find(axes, "producers", &measure::Axis::name);
  bool const open =
      sweep.axes.job == nullptr && !is_named(*command_, "fill") && !sweep.axes.from_profile.contains("fill");
  if (open && producers != axes.end() && producers->swept()) here.sweep.axes.lists["fill"] = "memcpy";
  return here;
}

BenchCommand BenchCommand::suited(std::span<measure::Point const> points, std::stop_token const& stop) const {
  BenchCommand here = *this;
  bool const for_another = !only.empty() || !begun.empty() || is_named(*command_, "order") || no_points;
  if (!sweep.on_models() || for_another) return here;
  if (!is_named(*command_, "repeats")) here.repeats = SweepArguments::runs_on_models;
  here.sweep.suit_models(points,
                         {.runs = here.repeats + (here.all_here() ? 1 : 0),
                          .more_runs = (load > 0 ? 1U : 0U) + (no_verdict ? 0U : 1U),
                          .rounds_alone = no_ceilings ? 0 : std::min(here.repeats, rounds_of_ceilings(true))},
                         measure::choose_factor, stop);
  return here;
}

ExitCode BenchCommand::run(StandardOutput& output, Interrupt const& interrupt) const {
  BenchCommand const here = filling();
  auto const points = points_of(here.sweep.axes.axes());
  // Files that cannot be read or written are reported at once.
  sweep.axes.check(points);
  FilesToWrite files = sweep.files_to_write(trace, interrupt.token());
  sweep.axes.remark_on_sizes();
  BenchCommand paced = here.suited(points, interrupt.token());
  return paced.measure(files, output, interrupt);
}

ExitCode BenchCommand::measure(FilesToWrite& files, StandardOutput& output, Interrupt const& interrupt) {
  measure::SweepOptions options;
  options.least_repeats = repeats;
  options.most_repeats = repeats + repeats / 2;
  options.rounds_of_ceilings = std::min(repeats, rounds_of_ceilings(sweep.on_models()));
  options.load = load;
  options.ceilings = !no_ceilings;
  options.judged = !no_verdict;
  options.digests = sweep.axes.job != nullptr && !no_digests;
  RunProgress progress(true, begun.empty() ? ProgressBegun() : ProgressBegun::from(begun));
  Apart rounds;
  if (!all_here()) sweep.warn_of_foreign_profile(flavour(), interrupt.token());
  if (!all_here() || sweep.chose_factor())
    rounds = apart(points_of(sweep.axes.axes()), options, interrupt.token(), progress);
  // Names of models have the factor that it came to.
  auto const wanted = sweep.axes.axes();
  auto const points = points_of(wanted);
  rounds.results.resize(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) rounds.results[i].point = points[i];
  if (!all_here()) options.least_repeats = options.most_repeats = 1;  // One repeat is left for this process.
  OpenDevices const devices(sweep.axes.wishes());
  if (all_here()) sweep.axes.profile.warn(machine_here(devices.first()));
  BenchFacts const facts = facts_here(devices.first(), flavour(), built_with_cuda(), sweep.command_line);
  if (no_points) {
    return output.write(as_json(facts, wanted, {})) ? exit_ok : exit_some_failed;
  }
  options.trial.window = std::chrono::milliseconds(sweep.milliseconds);
  // Modelled time has no clocks that rise and no caches that fill.
  if (sweep.on_models()) options.trial.warm_up = std::min(options.trial.warm_up, options.trial.window / 4);
  auto const ranges = trace.nvtx_ranges();
  options.trial.ranges = ranges.get();
  options.cpus = facts.device.host_cpus > 0 ? facts.device.host_cpus : static_cast<unsigned>(facts.cpus);
  options.order = order;
  std::vector<std::string> places;
  for (measure::Point const& point : points) places.push_back(place_text(wanted, point));
  std::size_t before = 0;
  for (measure::PointResult const& result : rounds.results) before += result.apart;
  std::vector<measure::PointResult> const results = measure::sweep(
      devices.by_name, std::move(rounds.results), options, interrupt.token(), [&](measure::SweepProgress const& now) {
        progress.show(before + now.done, before + now.total, places[now.point]);
      });
  progress.end();
  std::string const text = sweep.figures.json  ? as_json(facts, wanted, results)
                           : sweep.figures.csv ? as_csv(facts, wanted, results)
                                               : as_text(facts, wanted, results);
  bool const told = output.write(text);
  if (OutputFile* const file = files.of("--trace"); file != nullptr && told && !interrupt.requested())
    write_trace_of(*file, facts, wanted, results, devices.by_name, options.trial, interrupt.token());
  if (OutputFile* const page = files.of("--html"); page != nullptr) {
    write_page(*page, sweep.figures.json ? text : as_json(facts, wanted, results), title_of("bench"));
  }
  if (interrupt.requested()) {
    tell("Interrupted: what was measured until then is above.");
    return exit_interrupted;
  }
  bool const failed = !told || std::any_of(results.begin(), results.end(),
                                           [](measure::PointResult const& one) { return !one.error.empty(); });
  if (rounds.lost || devices.lost()) return exit_device;
  return failed ? exit_some_failed : exit_ok;
}

/// Writes the trace, and on standard error the cost of recording it.
void BenchCommand::write_trace_of(OutputFile& file, BenchFacts const& facts, std::span<measure::Axis const> axes,
                                  std::span<measure::PointResult const> results, measure::DevicesByName const& devices,
                                  measure::TrialOptions const& trial, std::stop_token const& stop) const {
  // The trace is written even if the clock was late.
  auto const best = best_of(results, true);
  if (!best) throw Error(ErrorKind::device_refused, "There is no run to write a trace of.");
  measure::Setting const& setting = results[*best].point.setting;
  DeviceGroup const& on = measure::devices_of(devices, setting);
  bool const legacy = facts.flavour == Flavour::legacy;
  TraceFacts about{.process = std::string(program_name()) + (legacy ? "-legacy bench" : " bench"),
                   .number = legacy ? 2U : 1U,
                   .facts = {{"device", device_text(on.info())}, {"command", facts.command}}};
  for (std::size_t i = 0; i < axes.size(); ++i) about.facts.emplace_back(axes[i].name, results[*best].point.values[i]);
  write_traced_run(trace, file, about, on, setting, trial, stop);
  if (no_trace_cost) return;
  constexpr std::uint64_t sampled = 16;
  constexpr unsigned pairs = 5;
  for (std::uint64_t const every : {std::uint64_t{1}, sampled}) {
    auto const kept = kept_when_traced(on, setting, trial, every, pairs, stop);
    if (!kept) return;
    tell(std::string("With ") + (every == 1 ? "every tile" : "one tile in 16") + " recorded it keeps " +
         formatted("%.1f", 100 * kept->median) + " % of its throughput (" + formatted("%.1f", 100 * kept->least) +
         " to " + formatted("%.1f", 100 * kept->most) + ", " + std::to_string(pairs) + " pairs of runs).");
  }
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
