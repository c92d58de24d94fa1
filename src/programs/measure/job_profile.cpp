// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/job_profile.hpp"

#include <algorithm>

#include "observe/option_table.hpp"
#include "penstock/error.hpp"
#include "programs/command/program.hpp"
#include "programs/measure/setting.hpp"

namespace penstock::measure {
namespace {

[[noreturn]] void refuse_profile(std::string const& path, std::string const& why) {
  throw Error(ErrorKind::bad_argument,
              path + ": " + why + ": make a new one with " + cli::title_of("tune --save") + ".");
}

std::string job_text(std::string const& job) {
  return job.empty() ? "penstock's own work" : "the job '" + job + "'";
}

}  // namespace

void expect_profile_of(Job const& job, Profile const& profile, std::string const& path) {
  std::string const& name = profile.job.name;
  // A profile of penstock's own work says which work that was. An older one of a user's job says neither.
  bool const unknown = name.empty() && profile.job.work.empty();
  if (!unknown && name != job.name)
    refuse_profile(path, "It was made for " + job_text(name) + ", and not for " + job_text(job.name));
}

std::map<std::string, std::string> own_values(Job const& job, Profile const& profile, std::string const& path) {
  expect_profile_of(job, profile, path);
  for (auto const& [name, value] : profile.job.options) {
    auto const option = std::ranges::find(job.options, name, &JobOption::name);
    if (option == job.options.end() || !option->listed)
      refuse_profile(path, "It has a value of --" + name + ", which is no option of this job that takes a list");
    try {
      Setting tried{.job = &job};
      set(tried, name, value);
    } catch (Error const& error) {
      std::string why = error.what();
      if (why.ends_with('.')) why.pop_back();
      refuse_profile(path, "It has " + why);
    }
  }
  return profile.job.options;
}

std::map<std::string, std::string> axis_values(Job const& job, Profile const& profile, std::string const& path) {
  std::map<std::string, std::string> values = own_values(job, profile, path);
  if (job.name.empty()) {
    values.insert({{"work", profile.job.work}, {"fill", profile.job.fill}, {"direction", profile.job.direction}});
  }
  values.insert({{"streams", profile.job.streams}, {"sink", profile.job.sink}});
  // Promises of the job that was measured are left out.
  PipelineOptions const options = profile.apply({});
  for (OptionRow const& row : option_table()) {
    if (!row.in(named_in::profiles) || row.kind == OptionKind::time) continue;
    values[std::string(row.name)] =
        row.kind == OptionKind::size ? std::to_string(profile.tile_bytes) : row.text(options);
  }
  std::erase_if(values, [](auto const& one) { return one.second.empty(); });
  return values;
}

}  // namespace penstock::measure
