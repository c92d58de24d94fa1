// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/bench_facts.hpp"

#include <array>
#include <ctime>

#include "penstock/machine/topology.hpp"
#include "tools/command/program.hpp"
#include "tools/command/results_text.hpp"
#include "tools/measure/meter.hpp"

namespace penstock::cli {

BenchFacts facts_here(DeviceGroup const& devices, Flavour flavour, bool with_cuda, std::string const& command_line) {
  auto const topology = Topology::detect();
  return {.version = PENSTOCK_VERSION,
          .commit = commit(),
          .flavour = flavour,
          .with_cuda = with_cuda,
          .host = HostLimits::read(),
          .cpus = topology.cpus().size(),
          .nodes = topology.nodes().size(),
          .device = devices.info(),
          .devices = devices.names(),
          .date = date_now(),
          .command = command_line};
}

std::string date_now() {
  std::time_t const now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

nlohmann::ordered_json as_members(BenchFacts const& facts) {
  bool const gpu = facts.device.kind == DeviceKind::cuda;
  return {
      {"penstock",
       {{"version", facts.version},
        {"commit", or_null(facts.commit)},
        {"flavour", flavour_name(facts.flavour)},
        {"cuda", facts.with_cuda}}},
      {"machine",
       {{"host", facts.host.hostname},
        {"kernel", "Linux " + facts.host.kernel},
        {"cpu", facts.host.cpu_model},
        {"cpus", facts.cpus},
        {"nodes", facts.nodes},
        {"memory_bytes", facts.host.memory_bytes}}},
      {"device",
       {{"kind", gpu ? "cuda" : "cpu"},
        {"name", facts.device.name},
        {"devices", facts.devices},
        {"link", or_null(facts.device.link)},
        {"driver", or_null(facts.device.driver)},
        {"runtime", or_null(facts.device.runtime)},
        {"memory_bytes", gpu ? nlohmann::ordered_json(facts.device.memory_bytes) : nlohmann::ordered_json(nullptr)}}},
      {"date", facts.date},
      {"command", facts.command}};
}

nlohmann::ordered_json as_spread(std::vector<double> const& values, double factor) {
  if (values.empty()) return nullptr;
  measure::Spread const spread = measure::spread_of(values);
  return {{"median", spread.median * factor}, {"min", spread.least * factor}, {"max", spread.most * factor}};
}

}  // namespace penstock::cli
