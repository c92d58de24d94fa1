// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/doctor_facts.hpp"

#include <nlohmann/json.hpp>

#include "penstock/core/size_text.hpp"
#include "tools/command/program.hpp"
#include "tools/command/results_text.hpp"
#include "tools/doctor/doctor_remarks.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string by_threads(double rate, unsigned threads) {
  return rate_text(rate) + " by " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

std::string gpu_line(DeviceInfo const& gpu) {
  std::string line = gpu.name + ", " + size_text(gpu.memory_bytes) + ", capability " + gpu.capability;
  line += ", " + (gpu.link.empty() ? "link unknown" : gpu.link);
  line += gpu.numa_node ? ", node " + std::to_string(*gpu.numa_node) : ", node unknown";
  line += ", " + std::to_string(gpu.copy_engines) + " copy engines, driver " + gpu.driver + ", runtime " + gpu.runtime;
  return line;
}

}  // namespace

std::string as_text(DoctorFacts const& facts) {
  HostLimits const& host = facts.host;
  std::string text;
  auto const line = [&](std::string const& label, std::string const& words) {
    text += label + std::string(label.size() < 10 ? 10 - label.size() : 1, ' ') + words + "\n";
  };
  line("penstock", build_text(facts.version, facts.flavour, facts.with_cuda));
  line("NVTX", facts.with_nvtx ? "in this build: penstock hash --nvtx shows profilers what its threads are at"
                               : "not in this build: its headers are a part of the CUDA toolkit");
  auto const known = [](std::string const& words) { return words.empty() ? std::string("unknown") : words; };
  auto const known_size = [](std::uint64_t bytes) { return bytes == 0 ? std::string("unknown") : size_text(bytes); };
  line("host", known(host.hostname) + ", Linux " + known(host.kernel) + ", " + known(host.cpu_model));
  line("machine", facts.topology.describe());
  line("memory", known_size(host.memory_bytes) + ", " + known_size(host.memory_available_bytes) +
                     " available, memlock " + (host.memlock_bytes ? size_text(*host.memlock_bytes) : "unlimited") +
                     ", transparent huge pages " + known(host.transparent_huge_pages) + ", " +
                     std::to_string(host.free_huge_pages) + " reserved huge pages free");
  if (facts.gpus.empty()) line("GPU", facts.gpu_problem.empty() ? "none: " + facts.gpu_sentence : "unknown");
  for (DeviceInfo const& gpu : facts.gpus) line("GPU " + std::to_string(gpu.ordinal), gpu_line(gpu));
  if (facts.rates) {
    ProbeRates const& rates = *facts.rates;
    line("probed", facts.probed);
    line("  upload", rate_text(rates.upload));
    line("  download", rate_text(rates.download));
    line("  both", rate_text(rates.both_up) + " up, " + rate_text(rates.both_down) + " down");
    line("  fill", by_threads(rates.fill_one, 1) +
                       (rates.threads > 1 ? ", " + by_threads(rates.fill, rates.threads) : std::string()));
    if (rates.read) line("  read", by_threads(*rates.read, rates.threads));
  }
  auto const remarks = remarks_on(facts);
  if (remarks.empty()) line("remarks", "none: nothing here holds a pipeline back");
  if (!remarks.empty()) text += "remarks\n";
  for (std::string const& remark : remarks) text += "  - " + remark + "\n";
  return text;
}

std::string as_json(DoctorFacts const& facts) {
  HostLimits const& host = facts.host;
  Json nodes = Json::array();
  for (NumaNode const& node : facts.topology.nodes()) {
    nodes.push_back({{"node", node.number},
                     {"cpus", std::vector<int>(node.cpus.begin(), node.cpus.end())},
                     {"memory_bytes", node.memory_bytes}});
  }
  Json gpus = Json::array();
  for (DeviceInfo const& gpu : facts.gpus) {
    gpus.push_back({{"ordinal", gpu.ordinal},
                    {"name", gpu.name},
                    {"memory_bytes", gpu.memory_bytes},
                    {"capability", gpu.capability},
                    {"link", or_null(gpu.link)},
                    {"numa_node", or_null(gpu.numa_node)},
                    {"pci_bus_id", or_null(gpu.pci_bus_id)},
                    {"copy_engines", gpu.copy_engines},
                    {"multiprocessors", gpu.compute_units},
                    {"driver", gpu.driver},
                    {"runtime", gpu.runtime}});
  }
  Json json{{"version", facts.version},
            {"flavour", flavour_name(facts.flavour)},
            {"with_cuda", facts.with_cuda},
            {"with_nvtx", facts.with_nvtx},
            {"host",
             {{"name", host.hostname},
              {"kernel", host.kernel},
              {"cpu", host.cpu_model},
              {"cpus", facts.topology.cpus().size()},
              {"cpu_quota", or_null(facts.topology.cpu_quota())},
              {"memory_bytes", host.memory_bytes},
              {"memory_available_bytes", host.memory_available_bytes},
              {"cgroup_memory_bytes", or_null(host.cgroup_memory_bytes)},
              {"memlock_bytes", or_null(host.memlock_bytes)},
              {"transparent_huge_pages", or_null(host.transparent_huge_pages)},
              {"free_huge_pages", host.free_huge_pages}}},
            {"nodes", nodes},
            {"gpu", facts.gpu_sentence},
            {"gpu_problem", or_null(facts.gpu_problem)},
            {"gpus", gpus}};
  json["probe"] = nullptr;
  if (facts.rates) {
    ProbeRates const& rates = *facts.rates;
    json["probe"] = {{"device", facts.probed},    {"upload", rates.upload},       {"download", rates.download},
                     {"both_up", rates.both_up},  {"both_down", rates.both_down}, {"fill_one", rates.fill_one},
                     {"fill", rates.fill},        {"threads", rates.threads},     {"read", or_null(rates.read)},
                     {"unit", "bytes per second"}};
  }
  json["probe_problem"] = or_null(facts.probe_problem);
  json["remarks"] = remarks_on(facts);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace penstock::cli
