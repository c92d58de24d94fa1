// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/sweep_arguments.hpp"

#include <algorithm>

#include "engine/core/number_text.hpp"
#include "engine/core/too_slow.hpp"
#include "penstock/error.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/completion.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/command/program.hpp"
#include "programs/measure/job_profile.hpp"
#include "programs/measure/size_remark.hpp"

namespace penstock::cli {
namespace {

std::string in_bytes(std::string const& axis, std::string const& sizes) {
  std::string list;
  for (std::string const& bytes : measure::parse_axis(axis, sizes).values) list += (list.empty() ? "" : ",") + bytes;
  return list;
}

}  // namespace

void AxisOptions::add_to(CLI::App& command, std::map<std::string, std::string> const& presets) {
  for (measure::AxisKind const& axis : kinds()) {
    std::string const name(axis.name);
    // An option that the command itself has, as tune does, stands for all points.
    if (axis.option != nullptr && command.get_option_no_throw("--" + name) != nullptr) {
      lists[name] = axis.preset;
      continue;
    }
    auto const other = presets.find(name);
    std::string const asked = other != presets.end() ? other->second : "";
    std::string& list = lists[name] = asked.empty() ? axis.preset : asked;
    command.add_option("--" + name, list, axis.help(asked))->type_name("LIST")->check(offers(axis.offered()));
    if (axis.option != nullptr) add_former_name(command, *axis.option, list);
  }
  command.footer(
      "LIST is a list as in 1,2,4, a range as in 1..4, or one that multiplies, as in 1..16*2 or 4KiB..1MiB*4. 0 is "
      "what\n"
      "suits the machine, but for --tile. A size is in bytes, or in KiB, MiB, GiB (1024-fold) or kB, MB, GB "
      "(1000-fold).\n"
      "Every combination is a point. Rounds over all points alternate, so that what drifts meets all alike.");
}

void AxisOptions::add_devices_to(CLI::App& command) {
  command
      .add_option(
          "--device", devices,
          "auto, cpu, cuda, cuda:N, model:NAME, several of them with commas, or all: every GPU, if there is one.\n"
          "Named more than once, one after the other. Default: auto")
      ->type_name("NAME")
      ->check(offers(device_words))
      ->allow_extra_args(false);
  slower.add_to(command);
}

CLI::Option* add_own_option(CLI::App& command, JobOption const& option, std::vector<std::string>& values) {
  std::string const sentence = option.sentence + (option.preset.empty() ? "" : ". Default: " + option.preset);
  if (option.several) return command.add_option("--" + option.name, values, sentence)->type_name(option.type);
  auto const take = [&values](std::string const& value) {
    values.clear();
    if (!value.empty()) values.push_back(value);
  };
  return command.add_option_function<std::string>("--" + option.name, take, sentence)->type_name(option.type);
}

void AxisOptions::add_plain_to(CLI::App& command) {
  for (JobOption const& option : measure::Setting{.job = job}.its_job().options) {
    if (option.listed) continue;
    auto& added = *add_own_option(command, option, plain[option.name]);
    if (option.names_input) added.check(names_a_file());
  }
}

std::vector<measure::AxisKind> AxisOptions::kinds() const {
  return measure::axis_kinds(measure::Setting{.job = job}.its_job());
}

measure::Setting AxisOptions::begin() const {
  measure::Setting setting{.job = job};
  for (JobOption const& option : setting.its_job().options) {
    if (auto const named = plain.find(option.name); named != plain.end())
      measure::set_own(setting, option, named->second);
  }
  setting.expect_required();
  if (job == nullptr) return setting;
  for (JobOption const& option : job->options) {
    if (!option.names_input || !setting.values.has(option.name)) continue;
    if (std::ranges::count(setting.values.texts(option.name), "-") == 0) continue;
    throw Error(ErrorKind::bad_argument, "--" + option.name +
                                             " -: standard input can be read only once, and a measurement reads its "
                                             "input again and again: name a file.");
  }
  return setting;
}

std::vector<NamedFile> AxisOptions::inputs() const {
  return named_by(&JobOption::names_input);
}

std::vector<NamedFile> AxisOptions::outputs() const {
  return named_by(&JobOption::names_output);
}

std::vector<NamedFile> AxisOptions::named_by(bool JobOption::*kind) const {
  std::vector<NamedFile> files;
  for (JobOption const& option : measure::Setting{.job = job}.its_job().options) {
    if (!(option.*kind) || !plain.contains(option.name)) continue;
    for (std::string const& path : plain.at(option.name)) files.push_back({"--" + option.name, path});
  }
  return files;
}

void AxisOptions::check(std::span<measure::Point const> points) const {
  if (auto const file = plain.find("file"); job == nullptr && file != plain.end() && !file->second.empty()) {
    std::string const fills = "," + lists.at("fill") + ",";
    if (fills.find(",file,") == std::string::npos)
      throw Error(ErrorKind::bad_argument,
                  "--file " + file->second.front() + " would not be read: add --fill file, or leave --file out.");
  }
  auto const& job_check = measure::Setting{.job = job}.its_job().check;
  if (!job_check) return;
  for (measure::Point const& point : points) job_check(point.setting.point());
}

void AxisOptions::set(std::string const& axis, std::string const& value) {
  if (axis == "device") {
    devices = {value};
  } else {
    lists[axis] = value;
  }
}

void AxisOptions::add_profile_to(CLI::App& command) {
  profile.add_to(command, profile_fills_in, [this, &command](Profile const& taken) {
    auto const values = measure::axis_values(measure::Setting{.job = job}.its_job(), taken, profile.path);
    for (auto const& [axis, value] : values) {
      OptionRow const* const row = find_option(axis);
      // Values that follow from named options are left for the pipeline to choose.
      bool const open = !is_named(command, axis) && (row == nullptr || !follows_from_named(command, *row));
      if (!open) continue;
      lists[axis] = value;
      from_profile.insert(axis);
    }
  });
}

std::vector<measure::Axis> AxisOptions::axes() const {
  std::vector<measure::Axis> all;
  measure::Setting const first = begin();
  std::vector<std::string> const named = wishes();
  if (named.size() > 1) all.push_back(measure::axis_of("device", named, first));
  for (measure::AxisKind const& axis : kinds()) {
    std::string const name(axis.name);
    all.push_back(measure::parse_axis(name, lists.at(name), first));
  }
  for (measure::Point const& point : measure::points_of(all, first)) static_cast<void>(point.setting.options());
  return all;
}

std::vector<std::string> AxisOptions::wishes() const {
  std::vector<std::string> all;
  for (std::string const& device : devices) all.push_back(slower.applied_to(device));
  return all;
}

void AxisOptions::remark_on_sizes() const {
  for (measure::AxisKind const& axis : kinds()) {
    std::string const name(axis.name);
    if (is_in_bytes(name)) say_size_remark("--" + name, lists.at(name));
  }
}

void AxisOptions::add_plain(std::vector<std::string>& words) const {
  for (auto const& [name, values] : plain) {
    for (std::string const& value : values) words.insert(words.end(), {"--" + name, value});
  }
}

std::vector<std::string> AxisOptions::arguments() const {
  std::vector<std::string> all;
  for (std::string const& device : wishes()) all.insert(all.end(), {"--device", device});
  add_plain(all);
  for (measure::AxisKind const& axis : kinds()) {
    std::string const name(axis.name);
    all.push_back("--" + name);
    all.push_back(is_in_bytes(name) ? in_bytes(name, lists.at(name)) : lists.at(name));
  }
  return all;
}

void SweepArguments::add_to(CLI::App& command, std::map<std::string, std::string> const& presets) {
  axes.add_to(command, presets);
  axes.add_profile_to(command);
  axes.add_devices_to(command);
  axes.add_plain_to(command);
  window_ =
      command.add_option("--window", milliseconds, "Milliseconds that count of each run. Default: 200; of a model 12")
          ->type_name("MILLISECONDS")
          ->check(whole_number(10, 60'000));
  figures.add_to(command, "Print JSON, as docs/results.md says", "each point");
}

bool SweepArguments::on_models() const {
  auto const is_model = [](std::string const& name) { return name.starts_with(measure::model_prefix); };
  return std::ranges::all_of(axes.wishes(),
                             [&](auto const& wish) { return std::ranges::all_of(measure::names_in(wish), is_model); });
}

void SweepArguments::suit_models(std::span<measure::Point const> points, measure::SweepToCome to_come,
                                 ChooseFactor choose, std::stop_token const& stop) {
  if (window_ == nullptr || window_->empty()) milliseconds = milliseconds_on_models;
  to_come.points = points.size();
  to_come.milliseconds = milliseconds;
  auto const wishes = axes.wishes();
  bool const open = std::ranges::all_of(wishes, measure::leaves_factor_open);
  if (open) {
    auto const factor = choose(wishes, points, stop);
    if (!factor) return;
    axes.slower.factor = measure::affordable_factor(to_come, *factor);
  }
  to_come.factor = measure::factor_of(axes.wishes().front());
  tell(measure::pace_text(to_come, open));
  if (!open) return;
  paced_ = to_come;
  paced_from_ = std::chrono::steady_clock::now();
  paced_for_ = measure::most_seconds(to_come);
}

bool SweepArguments::raise_factor(std::string_view late) {
  if (!paced_) return false;
  std::chrono::duration<double> const spent = std::chrono::steady_clock::now() - paced_from_;
  auto const factor = measure::raised_factor(*paced_, advised_factor(late), paced_for_ - spent.count());
  if (!factor) return false;
  axes.slower.factor = paced_->factor = *factor;
  tell("This machine was too slow for that clock, so it is now " + std::to_string(*factor) +
       " times slower. This takes about " + measure::about_text(measure::expected_seconds(*paced_)) + " more.");
  return true;
}

std::vector<std::string> SweepArguments::round(std::string const& program, AxisOptions const& points) const {
  std::vector<std::string> all{program, "bench", "--json", "--repeats", "1"};
  all.insert(all.end(), {"--window", std::to_string(milliseconds)});
  for (std::string const& argument : points.arguments()) all.push_back(argument);
  return all;
}

std::vector<std::string> SweepArguments::one_round(std::string const& program, AxisOptions const& points,
                                                   unsigned order, bool with_digests) const {
  auto all = round(program, points);
  all.insert(all.end(), {"--load", "0", "--no-ceilings", "--no-verdict", "--order", std::to_string(order)});
  if (axes.job != nullptr && !with_digests) all.emplace_back("--no-digests");
  return all;
}

std::vector<std::string> SweepArguments::judged_round(std::string const& program, AxisOptions const& points,
                                                      std::span<std::size_t const> only) const {
  auto all = round(program, points);
  std::string list;
  for (std::size_t const point : only) list += (list.empty() ? "" : ",") + std::to_string(point);
  all.insert(all.end(), {"--only", list});
  if (axes.job != nullptr) all.emplace_back("--no-digests");
  return all;
}

FilesToWrite SweepArguments::files_to_write(TraceArguments const& trace, std::stop_token const& stop) const {
  trace.check();
  std::vector<NamedFile> read = axes.inputs();
  read.push_back({"--profile", axes.profile.path});
  std::vector<NamedFile> const own{figures.page(), trace.named()};
  std::vector<NamedFile> written = axes.outputs();
  written.insert(written.end(), own.begin(), own.end());
  expect_apart(read, written);
  return {read, own, stop};
}

void SweepArguments::warn_of_foreign_profile(std::optional<Flavour> flavour, std::stop_token const& stop) const {
  if (!axes.profile.profile) return;
  std::vector<std::string> command{this_program(), "bench", "--json", "--no-points", "--device", axes.wishes().front()};
  axes.add_plain(command);
  ChildEnd const end = run_child(command, stop);
  if (end.code != exit_ok) return;  // The process that measures will say why.
  ProfiledMachine here = machine_of_results(end.output);
  if (flavour) here.flavour = flavour_name(*flavour);
  axes.profile.warn(here);
}

}  // namespace penstock::cli
