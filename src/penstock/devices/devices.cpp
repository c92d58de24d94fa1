// SPDX-License-Identifier: Apache-2.0
#include "penstock/devices.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "penstock/clock.hpp"
#include "penstock/cpu/cpu_device.hpp"
#include "penstock/devices/models.hpp"
#include "penstock/machine/cpu_set.hpp"
#include "penstock/machine/host_limits.hpp"
#ifdef PENSTOCK_WITH_CUDA
#include "penstock/cuda/cuda_device.hpp"
#include "penstock/cuda/probe.hpp"
#endif

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {
namespace {

#ifdef PENSTOCK_WITH_CUDA
std::unique_ptr<Device> open_gpu(int ordinal) {
  auto const found = cuda::probe();
  if (!found.usable()) throw found.error();
  if (ordinal >= found.gpus) {
    throw Error(ErrorKind::no_device, "There is no GPU " + std::to_string(ordinal) + ": this process sees " +
                                          std::to_string(found.gpus) + ", numbered from 0.");
  }
  return std::make_unique<cuda::CudaDevice>(ordinal);
}
#else
[[noreturn]] std::unique_ptr<Device> open_gpu(int) {
  throw Error(ErrorKind::unsupported,
              gpu_sentence() + " Use --device cpu (open_device(\"cpu\")), or build penstock where nvcc is installed.");
}
#endif

/// A CPU device with its share of the threads; a modelled GPU, if there is a model.
std::unique_ptr<Device> open_cpu(std::filesystem::path const& root, int ordinal = 0, std::size_t of_devices = 1,
                                 std::optional<cpu::DeviceModel> model = {}) {
  auto const threads = CgroupLimits::read(root).busy_threads(affinity_of_this_thread().size());
  std::optional<std::size_t> const memory = model ? std::optional<std::size_t>(model->memory_bytes) : std::nullopt;
  return std::make_unique<cpu::CpuDevice>(
      cpu::CpuOptions{.ordinal = ordinal,
                      .compute_threads = static_cast<unsigned>(std::max<std::size_t>(1, threads / of_devices)),
                      .memory_bytes = memory,
                      .flavour = flavour(),
                      .model = std::move(model)});
}

constexpr std::string_view model_prefix = "model:";

/// `opened` counts those of each name.
std::unique_ptr<Device> open_model(std::string_view wish, std::filesystem::path const& root,
                                   std::map<std::string, int>& opened, std::size_t of_devices) {
  ModelWish modelled = model_of(wish.substr(model_prefix.size()));
  Clock::slow_down(modelled.slower);
  int const ordinal = opened[modelled.model.called]++;
  return open_cpu(root, ordinal, of_devices, std::move(modelled.model));
}

/// The N of "cuda:N" for `kind` "cuda:"; empty if it is no such name.
std::optional<int> ordinal_of(std::string_view wish, std::string_view kind) {
  if (!wish.starts_with(kind)) return std::nullopt;
  std::string_view const number = wish.substr(kind.size());
  int ordinal = -1;
  auto const [end, problem] = std::from_chars(number.data(), number.data() + number.size(), ordinal);
  bool const whole = problem == std::errc{} && end == number.data() + number.size() && ordinal >= 0;
  return whole ? std::optional(ordinal) : std::nullopt;
}

/// The names of a list, and for "all" those that it stands for.
std::vector<std::string> names_of(std::string_view wishes) {
  std::vector<std::string> names;
  for (std::size_t from = 0; from <= wishes.size();) {
    std::size_t const comma = std::min(wishes.find(',', from), wishes.size());
    std::string_view const name = wishes.substr(from, comma - from);
    from = comma + 1;
    if (name != "all" && name != "cuda:all") {
      names.emplace_back(name);
      continue;
    }
    auto const gpus = list_gpus();
    for (DeviceInfo const& gpu : gpus) names.push_back("cuda:" + std::to_string(gpu.ordinal));
    if (!gpus.empty()) continue;
    if (name == "cuda:all") throw Error(ErrorKind::no_device, gpu_sentence() + " Use --device all or cpu.");
    names.emplace_back("cpu");
  }
  return names;
}

}  // namespace

#ifdef PENSTOCK_WITH_CUDA
std::string gpu_sentence() {
  return cuda::probe().sentence;
}
bool built_with_cuda() noexcept {
  return true;
}
std::vector<DeviceInfo> list_gpus() {
  return cuda::list();
}
#else
std::string gpu_sentence() {
  return "This build of penstock has no CUDA in it.";
}
bool built_with_cuda() noexcept {
  return false;
}
std::vector<DeviceInfo> list_gpus() {
  return {};
}
#endif

namespace {

/// Null, if no device has that name.
std::unique_ptr<Device> open_one(std::string_view wish, std::filesystem::path const& root) {
  if (wish == "cpu" || wish == "cpu:0") return open_cpu(root);
  if (wish == "auto") {
    if (!list_gpus().empty()) return open_gpu(0);
    return open_cpu(root);
  }
  if (wish == "cuda") return open_gpu(0);
  if (auto const ordinal = ordinal_of(wish, "cuda:")) return open_gpu(*ordinal);
  if (wish.starts_with(model_prefix)) {
    std::map<std::string, int> none;
    return open_model(wish, root, none, 1);
  }
  return nullptr;
}

}  // namespace

bool driver_present(std::filesystem::path const& root) {
  // The last is Windows' own, for a Linux that runs under it.
  for (char const* const sign : {"dev/nvidiactl", "proc/driver/nvidia/version", "dev/dxg"}) {
    std::error_code hidden;
    if (std::filesystem::exists(root / sign, hidden)) return true;
  }
  return false;
}

std::unique_ptr<Device> open_device(std::string_view wish, std::filesystem::path const& root) {
  if (auto device = open_one(wish, root)) return device;
  bool const several = wish == "all" || wish == "cuda:all" || wish.find(',') != std::string_view::npos;
  throw Error(ErrorKind::bad_argument,
              "'" + std::string(wish) +
                  (several ? "' may be several devices, and here it is one" : "' is not a device") +
                  ": say auto, cpu, cuda, cuda:N or model:NAME.");
}

Devices open_devices(std::string_view wishes, std::filesystem::path const& root) {
  std::vector<std::string> names = names_of(wishes);
  std::replace(names.begin(), names.end(), std::string("auto"), std::string(list_gpus().empty() ? "cpu" : "cuda:0"));
  auto const is_model = [](std::string const& name) { return name.starts_with(model_prefix); };
  auto const is_cpu = [&](std::string const& name) {
    return name == "cpu" || ordinal_of(name, "cpu:") || is_model(name);
  };
  auto const models = std::count_if(names.begin(), names.end(), is_model);
  bool const slow = models > 0 || Clock::slower() != 1;
  if (slow && static_cast<std::size_t>(models) < names.size()) {
    throw Error(ErrorKind::bad_argument,
                "A modelled GPU slows the clock of the process, so real devices would seem faster: name models only.");
  }
  auto const cpus = static_cast<std::size_t>(std::count_if(names.begin(), names.end(), is_cpu));
  std::vector<std::unique_ptr<Device>> opened;
  std::vector<int> gpus;
  int cpu = 0;
  std::map<std::string, int> models_of_name;
  for (std::string const& name : names) {
    if (is_cpu(name) && names.size() > 1) {
      // CPU devices are numbered in the order of the list, so the number in the name only tells them apart.
      opened.push_back(is_model(name) ? open_model(name, root, models_of_name, cpus) : open_cpu(root, cpu++, cpus));
      continue;
    }
    opened.push_back(open_one(name, root));
    if (!opened.back()) {
      throw Error(
          ErrorKind::bad_argument,
          "'" + name +
              "' is not a device: say auto, cpu, cuda, cuda:N or model:NAME, several of them with commas, or all.");
    }
    DeviceInfo const info = opened.back()->info();
    if (info.kind != DeviceKind::cuda) continue;
    if (std::find(gpus.begin(), gpus.end(), info.ordinal) != gpus.end()) {
      throw Error(ErrorKind::bad_argument, "'" + std::string(wishes) + "' names GPU " + std::to_string(info.ordinal) +
                                               " twice: name each once.");
    }
    gpus.push_back(info.ordinal);
  }
  return Devices(std::move(opened));
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
