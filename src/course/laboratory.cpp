// SPDX-License-Identifier: Apache-2.0
#include "course/laboratory.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "course/experiment.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "penstock/models/devices.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/program.hpp"
#include "programs/measure/pace.hpp"
#include "programs/measure/pace_probe.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// A CPU device with threads for more kernels than there are CPUs: they wait and do not compute.
std::unique_ptr<Device> cpu_laboratory(int ordinal) {
  return std::make_unique<cpu::CpuDevice>(
      cpu::CpuOptions{.ordinal = ordinal, .compute_threads = lab::kernels_at_once, .flavour = flavour()});
}

/// The device of "auto" or one name, twice: the second is another device of the same kind, if there can be one.
std::string twice(std::string const& wish) {
  if (!wish.starts_with("cuda")) return wish + "," + wish;
  auto const gpus = list_gpus();
  auto const other = std::ranges::find_if(
      gpus, [&](DeviceInfo const& gpu) { return device_name(gpu) != (wish == "cuda" ? "cuda:0" : wish); });
  return other == gpus.end() ? wish : wish + "," + device_name(*other);
}

}  // namespace

std::string paced_laboratory(std::string const& wish, std::stop_token const& stop) {
  // All experiments take minutes on that. One that is late there says which factor would do.
  constexpr unsigned largest = 100;
  if (!measure::leaves_factor_open(wish)) return wish;
  SlowerOption here;
  measure::Point const usual;
  here.factor =
      std::min(largest, measure::choose_factor({&wish, 1}, {&usual, 1}, stop).value_or(measure::least_factor));
  tell(measure::factor_text(here.factor));
  return here.applied_to(wish);
}

Devices open_laboratory(std::string wish, bool wants_two) {
  // With this a GPU lets 32 streams hand over work independently, by default only eight: a ninth would queue behind
  // another whatever the rules of streams say. It is read at the first CUDA call.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  if (wish == "auto") wish = list_gpus().empty() ? "cpu" : "cuda";
  if (wants_two && wish.find(',') == std::string::npos && wish != "all" && wish != "cuda:all") wish = twice(wish);
  std::vector<std::unique_ptr<Device>> opened;
  if (wish == "cpu" || wish == "cpu,cpu") {
    for (int i = 0; i < (wish == "cpu" ? 1 : 2); ++i) opened.push_back(cpu_laboratory(i));
    return Devices(std::move(opened));
  }
  if (wish.find(',') != std::string::npos) return open_devices(wish);
  opened.push_back(open_device(wish));
  return Devices(std::move(opened));
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
