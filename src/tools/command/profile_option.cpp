// SPDX-License-Identifier: Apache-2.0
#include "tools/command/profile_option.hpp"

#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "penstock/machine/host_limits.hpp"
#include "penstock/machine/topology.hpp"
#include "tools/command/named_files.hpp"

namespace penstock::cli {

ProfiledMachine machine_here(DeviceGroup const& devices) {
  DeviceInfo const info = devices.info();
  return {.cpu = HostLimits::read().cpu_model,
          .cpus = Topology::detect().cpus().size(),
          .device = info.name,
          .driver = info.driver,
          .flavour = std::string(flavour_name(devices.front().flavour()))};
}

ProfiledMachine machine_of_results(std::string const& results) {
  auto const json = nlohmann::json::parse(results);
  return {.cpu = json.at("machine").at("cpu").get<std::string>(),
          .cpus = json.at("machine").at("cpus").get<std::uint64_t>(),
          .device = json.at("device").at("name").get<std::string>()};
}

std::map<std::string, std::string> axis_values(Profile const& profile) {
  PipelineOptions const& options = profile.options;
  return {{"threads", std::to_string(options.producers)},
          {"lanes", std::to_string(options.lanes)},
          {"consumers", std::to_string(options.consumers)},
          {"tile", std::to_string(profile.tile_bytes)},
          {"depth", std::to_string(options.slots)},
          {"batch", std::to_string(options.batch)},
          {"tiles", std::to_string(options.tiles)},
          {"aim", std::string(to_string(options.aim))},
          {"signal", std::string(to_string(options.signal))},
          {"shape", std::string(to_string(options.shape))},
          // What allows `mapped` is the job, and this may be another.
          {"transport", options.transport == Transport::copies ? "copies" : "automatic"},
          {"graphs", std::string(to_string(options.graphs))},
          {"work", profile.job.work},
          {"fill", profile.job.fill},
          {"direction", profile.job.direction},
          {"streams", profile.job.streams},
          {"sink", profile.job.sink}};
}

void ProfileOption::add_to(CLI::App& command, std::string const& help, std::function<void(Profile const&)> take) {
  command.add_option("--profile", path, help)->type_name("FILE")->check(names_a_file());
  command.final_callback([this, take = std::move(take)] {
    if (path.empty()) return;
    profile = load_profile(path);
    take(*profile);
  });
}

void ProfileOption::warn(ProfiledMachine const& here) const {
  if (!profile) return;
  std::string const difference = profile->difference_to(here);
  if (!difference.empty()) std::fprintf(stderr, "penstock: %s: %s\n", path.c_str(), difference.c_str());
}

}  // namespace penstock::cli
