// SPDX-License-Identifier: Apache-2.0
#include "programs/doctor/links_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "programs/command/results.hpp"

namespace penstock::cli {
namespace {

struct NamedRate {
  std::string_view name;
  double rate;
};

/// NVIDIA states the double, which is of both ways together.
constexpr std::array<NamedRate, 5> nvlinks{
    NamedRate{"NVLink 2", 150}, {"NVLink 3", 300}, {"NVLink 4", 450}, {"NVLink 5", 900}, {"NVLink-C2C", 450}};

/// Of one lane. Before PCIe 3 a byte is sent as 10 bits, since then 128 bits as 130.
constexpr std::array<double, 6> pcie_lanes{
    2.5 / 10, 5.0 / 10, 8.0 / 8 * 128 / 130, 16.0 / 8 * 128 / 130, 32.0 / 8 * 128 / 130, 64.0 / 8 * 128 / 130};

std::string rate_text(double rate) {
  return rate > 0 ? short_number(rate) : "-";
}

/// Milliseconds for 1 GB.
std::string gigabyte_text(double rate, cpu::DeviceModel::Time empty_copy) {
  return rate > 0 ? short_number(1e3 / rate + empty_copy.count() / 1e3) : "-";
}

}  // namespace

std::optional<double> rate_of_link(std::string_view name) {
  for (NamedRate const& one : nvlinks) {
    if (one.name == name) return one.rate;
  }
  unsigned generation = 0, lanes = 0;
  if (std::sscanf(std::string(name).c_str(), "PCIe %u x%u", &generation, &lanes) != 2) return std::nullopt;
  if (generation < 1 || generation > pcie_lanes.size()) return std::nullopt;
  return pcie_lanes[generation - 1] * lanes;
}

std::string links_text(std::vector<NamedModel> models) {
  using Rows = std::vector<std::vector<std::string>>;
  auto const by_name = [](std::string const& link) { return rate_text(rate_of_link(link).value_or(0)); };
  std::ranges::stable_sort(models, {}, [](NamedModel const& model) { return model.second.link.up; });
  Rows hosts{
      {"model", "link to the host", "GB/s by name", "up", "down", "both, each way", "empty copy, us", "1 GB, ms"}};
  for (auto const& [name, model] : models) {
    auto const& link = model.link;
    hosts.push_back({name, model.link_name, by_name(model.link_name), short_number(link.up), short_number(link.down),
                     short_number(link.both), short_number(link.copy.count()), gigabyte_text(link.up, link.copy)});
  }
  std::ranges::stable_sort(models, {}, [](NamedModel const& model) { return model.second.link.peer; });
  Rows peers{{"model", "link to another GPU", "GB/s by name", "each way", "empty copy, us", "1 GB, ms"}};
  for (auto const& [name, model] : models) {
    auto const& link = model.link;
    if (link.peer <= 0) continue;
    peers.push_back({name, model.peer_name, by_name(model.peer_name), short_number(link.peer),
                     short_number(link.copy.count()), gigabyte_text(link.peer, link.copy)});
  }
  return text_table(hosts, 2) + "\n" + text_table(peers, 2);
}

}  // namespace penstock::cli
