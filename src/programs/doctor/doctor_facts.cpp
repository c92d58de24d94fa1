// SPDX-License-Identifier: Apache-2.0
#include "programs/doctor/doctor_facts.hpp"

#include <cstdio>

#include <nlohmann/json.hpp>

#include "engine/core/number_text.hpp"
#include "programs/command/program.hpp"
#include "programs/command/results.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string by_threads(double rate, unsigned threads) {
  return rate_text(rate) + " by " + count_text(threads, "thread");
}

/// Empty if the driver was not asked.
GpuSharing sharing_of(DoctorFacts const& facts, std::size_t gpu) {
  return gpu < facts.sharing.size() ? facts.sharing[gpu] : GpuSharing{};
}

std::string gpu_line(DeviceInfo const& gpu, GpuSharing const& sharing) {
  std::string line = gpu.name + ", " + size_text(gpu.memory_bytes) + ", capability " + gpu.capability;
  line += ", " + (gpu.link.empty() ? "link unknown" : gpu.link);
  line += gpu.numa_node ? ", node " + std::to_string(*gpu.numa_node) : ", node unknown";
  line += ", " + count_text(static_cast<std::uint64_t>(gpu.copy_engines), "copy engine") + ", driver " + gpu.driver +
          ", runtime " + gpu.runtime;
  std::string const shared = describe(sharing);
  return shared.empty() ? line : line + ", " + shared;
}

/// Maximum pinned memory of a pipeline, unless the user says otherwise.
constexpr std::uint64_t usual_pinned_bytes = std::uint64_t{1} << 30;
/// Reading this much takes 3 ms at the 86 GB/s of docs/performance.md: ten times what it takes to start the threads.
constexpr std::uint64_t least_read_bytes = std::uint64_t{256} << 20;

void remark_on_host(DoctorFacts const& facts, std::vector<std::string>& remarks) {
  HostLimits const& host = facts.host;
  if (facts.topology.busy_threads() < 4) {
    remarks.push_back(
        "Only " + std::to_string(facts.topology.busy_threads()) +
        " threads can be busy at once: reading input and hashing will share them. More CPUs would help most.");
  }
  if (auto const quota = facts.topology.cpu_quota();
      quota && *quota < static_cast<double>(facts.topology.cpus().size())) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "A cgroup allows %.1f CPUs of the %zu that are visible: raise cpu.max, or expect pauses.", *quota,
                  facts.topology.cpus().size());
    remarks.emplace_back(text);
  }
  if (host.memory_bytes == 0) {
    remarks.emplace_back(
        "What /proc says of this machine could not be read: see that it is mounted, and let more files be open "
        "(ulimit -n).");
  }
  if (host.transparent_huge_pages == "never") {
    remarks.emplace_back(
        "Transparent huge pages are off, so pinning tiles takes longer: write madvise to "
        "/sys/kernel/mm/transparent_hugepage/enabled.");
  }
  if (host.memory_available_bytes != 0 && host.memory_available_bytes < 2 * usual_pinned_bytes) {
    remarks.push_back("Only " + size_text(host.memory_available_bytes) +
                      " of memory are available: use fewer --tiles or a smaller --tile.");
  }
  if (host.cgroup_memory_bytes && *host.cgroup_memory_bytes < 2 * usual_pinned_bytes) {
    remarks.push_back("A cgroup allows " + size_text(*host.cgroup_memory_bytes) +
                      " of memory: use fewer --tiles or a smaller --tile.");
  }
}

void remark_on_gpus(DoctorFacts const& facts, std::vector<std::string>& remarks) {
  if (facts.gpus.empty() && facts.gpu_problem.empty()) {
    remarks.emplace_back("There is no GPU to use: the CPU device does the work.");
  }
  if (!facts.gpu_problem.empty() && facts.gpu_problem != facts.probe_problem) {
    remarks.push_back("The GPUs could not be asked what they are: " + facts.gpu_problem);
  }
  bool const several_nodes = facts.topology.nodes().size() > 1;
  if (auto const memlock = facts.host.memlock_bytes; !facts.gpus.empty() && memlock && *memlock < usual_pinned_bytes) {
    remarks.push_back(
        "memlock is " + size_text(*memlock) + ", less than the " + size_text(usual_pinned_bytes) +
        " that a pipeline may pin. The NVIDIA driver does not ask it; if pinning fails, or something else "
        "in your process locks memory, raise it with ulimit -l.");
  }
  for (std::size_t i = 0; i < facts.gpus.size(); ++i) {
    DeviceInfo const& gpu = facts.gpus[i];
    std::string const name = "GPU " + std::to_string(gpu.ordinal);
    if (!gpu.numa_node && several_nodes) {
      remarks.push_back(name +
                        "'s NUMA node is unknown (normal in a virtual machine): threads and tiles may be far from it.");
    }
    if (sharing_of(facts, i).mps.value_or(false)) {
      remarks.push_back(name +
                        " is shared by MPS: rates depend on what other processes do. Stop them, or the service, to "
                        "measure.");
    }
    if (gpu.copy_engines < 2) {
      remarks.push_back(name + " has one copy engine: uploads and downloads will take turns.");
    }
  }
  if (facts.flavour == Flavour::legacy) {
    remarks.emplace_back("This build uses the legacy default stream: work that names no stream is serialised.");
  }
}

void remark_on_rates(DoctorFacts const& facts, std::vector<std::string>& remarks) {
  if (!facts.probe_problem.empty()) {
    // The line on the GPU already has the sentence.
    bool const said = facts.gpus.empty() && facts.probe_problem.starts_with(facts.gpu_sentence);
    remarks.push_back("The probe failed: " + (said ? "there is no GPU to use." : facts.probe_problem));
  }
  if (!facts.rates) return;
  ProbeRates const& rates = *facts.rates;
  bool const read_enough = rates.read_bytes >= least_read_bytes || !rates.read_all;
  if (rates.read && !read_enough) {
    remarks.push_back("The file to read has only " + size_text(rates.read_bytes) +
                      ": too small for its speed to mean anything. Name a file of some GiB.");
  }
  if (std::size_t const busy = facts.topology.busy_threads(); rates.threads > busy) {
    remarks.push_back(std::to_string(rates.threads) + " threads filled, of which " + std::to_string(busy) +
                      " can be busy at once: the others only took turns with them. Ask for fewer --producers.");
  }
  if (!facts.probed_gpu) return;
  if (rates.fill < rates.upload) {
    remarks.push_back("Filling tiles (" + rate_text(rates.fill) + " by " + std::to_string(rates.threads) +
                      " threads) is slower than the link (" + rate_text(rates.upload) +
                      "): the producers will be the limit. Produce into the tile directly, or use more threads.");
  }
  if (rates.read && read_enough && *rates.read < rates.upload) {
    remarks.push_back("Reading that file (" + rate_text(*rates.read) + ") is slower than the link (" +
                      rate_text(rates.upload) + "): reading will be the limit.");
  }
  if (rates.both_up + rates.both_down < 1.3 * (rates.upload + rates.download) / 2) {
    remarks.emplace_back(
        "Uploads and downloads hardly overlap on this link: do not expect both directions at full speed.");
  }
}

/// The member `probe`, with null for what was not measured.
Json probe_of(DoctorFacts const& facts) {
  ProbeRates const rates = facts.rates.value_or(ProbeRates{});
  auto const gigabytes = [&](double bytes) { return facts.rates ? Json(bytes / 1e9) : Json(nullptr); };
  return {{"device", or_null(facts.probed)},
          {"threads", facts.rates ? Json(rates.threads) : Json(nullptr)},
          {"upload_gb_per_s", gigabytes(rates.upload)},
          {"download_gb_per_s", gigabytes(rates.download)},
          {"both_up_gb_per_s", gigabytes(rates.both_up)},
          {"both_down_gb_per_s", gigabytes(rates.both_down)},
          {"fill_one_gb_per_s", gigabytes(rates.fill_one)},
          {"fill_gb_per_s", gigabytes(rates.fill)},
          {"read_gb_per_s", rates.read ? gigabytes(*rates.read) : Json(nullptr)}};
}

}  // namespace

std::string as_text(DoctorFacts const& facts) {
  HostLimits const& host = facts.host;
  std::string text;
  auto const line = [&](std::string const& label, std::string const& words) {
    text += label + std::string(label.size() < 11 ? 11 - label.size() : 1, ' ') + words + "\n";
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
  for (std::size_t i = 0; i < facts.gpus.size(); ++i)
    line("GPU " + std::to_string(facts.gpus[i].ordinal), gpu_line(facts.gpus[i], sharing_of(facts, i)));
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

std::string as_json(DoctorFacts const& facts, std::string const& command) {
  HostLimits const& host = facts.host;
  Json nodes = Json::array();
  for (NumaNode const& node : facts.topology.nodes()) {
    nodes.push_back({{"node", node.number},
                     {"cpus", std::vector<int>(node.cpus.begin(), node.cpus.end())},
                     {"memory_bytes", node.memory_bytes}});
  }
  Json gpus = Json::array();
  for (std::size_t i = 0; i < facts.gpus.size(); ++i) {
    DeviceInfo const& gpu = facts.gpus[i];
    GpuSharing const sharing = sharing_of(facts, i);
    gpus.push_back({{"ordinal", gpu.ordinal},
                    {"name", gpu.name},
                    {"memory_bytes", gpu.memory_bytes},
                    {"capability", gpu.capability},
                    {"link", or_null(gpu.link)},
                    {"numa_node", or_null(gpu.numa_node)},
                    {"pci_bus_id", or_null(gpu.pci_bus_id)},
                    {"copy_engines", gpu.copy_engines},
                    {"multiprocessors", gpu.compute_units},
                    {"mps", or_null(sharing.mps)},
                    {"green_contexts", or_null(sharing.green_contexts)},
                    {"green_context_multiprocessors", or_null(sharing.least_green_context)},
                    {"driver", gpu.driver},
                    {"runtime", gpu.runtime}});
  }
  Json json{{"schema", 1},
            {"kind", "doctor"},
            {"penstock",
             {{"version", facts.version},
              {"commit", or_null(commit())},
              {"flavour", flavour_name(facts.flavour)},
              {"cuda", facts.with_cuda},
              {"nvtx", facts.with_nvtx}}},
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
  json["probe"] = facts.rates ? probe_of(facts) : Json(nullptr);
  json["probe_problem"] = or_null(facts.probe_problem);
  json["remarks"] = remarks_on(facts);
  if (!command.empty()) json.update({{"date", date_now()}, {"command", command}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json row_of(DoctorFacts const& facts) {
  HostLimits const& host = facts.host;
  DeviceInfo const gpu = facts.gpus.empty() ? DeviceInfo() : facts.gpus.front();
  Json row{{"host", host.hostname},
           {"cpu", host.cpu_model},
           {"cpus", facts.topology.cpus().size()},
           {"nodes", facts.topology.nodes().size()},
           {"memory_bytes", host.memory_bytes},
           {"memory_available_bytes", host.memory_available_bytes},
           {"memlock_bytes", or_null(host.memlock_bytes)},
           {"gpus", facts.gpus.size()},
           {"gpu", or_null(gpu.name)},
           {"link", or_null(gpu.link)},
           {"driver", or_null(gpu.driver)}};
  Json const probe = probe_of(facts);
  for (auto const& member : probe.items()) row[member.key() == "device" ? "probed" : member.key()] = member.value();
  row.update({{"version", facts.version},
              {"commit", or_null(commit())},
              {"flavour", flavour_name(facts.flavour)},
              {"date", date_now()},
              {"probe_problem", or_null(facts.probe_problem)}});
  return row;
}

std::vector<std::string> remarks_on(DoctorFacts const& facts) {
  std::vector<std::string> remarks;
  remark_on_host(facts, remarks);
  remark_on_gpus(facts, remarks);
  remark_on_rates(facts, remarks);
  remarks.insert(remarks.end(), facts.remarks.begin(), facts.remarks.end());
  return remarks;
}

}  // namespace penstock::cli
