// SPDX-License-Identifier: Apache-2.0
#include "penstock/named_devices.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "engine/cpu/cpu_device.hpp"
#include "engine/machine/cpu_set.hpp"
#include "engine/machine/host_limits.hpp"
#include "engine/named_devices/gpu_code.hpp"
#include "penstock/clock.hpp"
#include "penstock/device.hpp"
#ifdef PENSTOCK_WITH_CUDA
#include "engine/cuda/cuda_device.hpp"
#include "engine/cuda/probe.hpp"
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
  auto device = std::make_unique<cuda::CudaDevice>(ordinal);
  DeviceInfo const info = device->info();
  std::string const name = "cuda:" + std::to_string(ordinal) + " (" + info.name + ")";
  if (std::string const missing = missing_gpu_code(name, info.capability, PENSTOCK_CUDA_CODE); !missing.empty())
    throw Error(ErrorKind::unsupported, missing);
  return device;
}
#else
[[noreturn]] std::unique_ptr<Device> open_gpu(int) {
  throw Error(ErrorKind::unsupported,
              gpu_sentence() + " Use --device cpu (open_device(\"cpu\")), or build penstock where nvcc is installed.");
}
#endif

/// Number of threads that each of several devices of the host may keep busy.
unsigned share_of_threads(std::filesystem::path const& root, std::size_t of_devices) {
  auto const threads = CgroupLimits::read(root).busy_threads(affinity_of_this_thread().size());
  return static_cast<unsigned>(std::max<std::size_t>(1, threads / of_devices));
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

/// The device that a name stands for.
struct Named {
  DeviceKind kind = DeviceKind::cpu;
  int gpu = 0;                              ///< Its number.
  std::unique_ptr<DeviceToOpen> made = {};  ///< It is one of a maker's, and lives on the host.

  unsigned slower() const noexcept { return made != nullptr ? made->slower() : 1; }
};

/// Finds what the name stands for; empty, if no device has it.
std::optional<Named> named(std::string_view wish, bool one_of_several, DeviceMakers makers) {
  // CPU devices are numbered in the order of the list, so the number in the name only tells them apart.
  if (wish == "cpu" || wish == "cpu:0" || (one_of_several && ordinal_of(wish, "cpu:"))) return Named{};
  if (wish == "auto") return Named{list_gpus().empty() ? DeviceKind::cpu : DeviceKind::cuda};
  if (wish == "cuda") return Named{DeviceKind::cuda};
  if (auto const ordinal = ordinal_of(wish, "cuda:")) return Named{DeviceKind::cuda, *ordinal};
  for (DeviceMaker const* const maker : makers) {
    if (auto made = maker->find(wish)) return Named{.made = std::move(made)};
  }
  return std::nullopt;
}

/// The names that one device may have.
std::string names_of_one(DeviceMakers makers) {
  std::string names = "auto, cpu, cuda";
  std::string last = "cuda:N";
  for (DeviceMaker const* const maker : makers) names += ", " + std::exchange(last, maker->names());
  return names + " or " + last;
}

/// Throws: Error of kind bad_argument, unless all devices of the process slow the clock by one factor.
void expect_one_clock(std::vector<Named> const& all) {
  auto const slow = std::ranges::count_if(all, [](Named const& one) { return one.slower() != 1; });
  if ((slow > 0 || Clock::slower() != 1) && static_cast<std::size_t>(slow) < all.size()) {
    throw Error(ErrorKind::bad_argument,
                "A modelled GPU slows the clock of the process, so real devices would seem faster: name models only.");
  }
  auto const other = [&](Named const& one) { return one.slower() != all.front().slower(); };
  if (std::ranges::any_of(all, other)) {
    throw Error(ErrorKind::bad_argument, "A process has one clock: name all models with the same factor behind @.");
  }
}

/// Opens all of them, or none: the clock changes once all are there.
std::vector<std::unique_ptr<Device>> open_all(std::vector<Named>& all, std::filesystem::path const& root) {
  expect_one_clock(all);
  auto const on_host = static_cast<std::size_t>(std::ranges::count(all, DeviceKind::cpu, &Named::kind));
  std::vector<std::unique_ptr<Device>> opened;
  std::map<std::string, int, std::less<>> of_name;  // Number of devices of each name so far.
  for (Named& one : all) {
    if (one.kind == DeviceKind::cuda) {
      opened.push_back(open_gpu(one.gpu));
      continue;
    }
    int const ordinal = of_name[std::string(one.made != nullptr ? one.made->called() : "")]++;
    unsigned const threads = share_of_threads(root, on_host);
    opened.push_back(one.made != nullptr ? one.made->open(ordinal, threads, flavour())
                                         : std::make_unique<cpu::CpuDevice>(cpu::CpuOptions{
                                               .ordinal = ordinal, .compute_threads = threads, .flavour = flavour()}));
  }
  if (all.empty()) return opened;
  all.front().slower() != 1 ? all.front().made->slow_clock() : Clock::keep();
  return opened;
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

std::unique_ptr<Device> open_device(std::string_view wish, DeviceMakers makers, std::filesystem::path const& root) {
  if (auto one = named(wish, false, makers)) {
    std::vector<Named> all;
    all.push_back(std::move(*one));
    return std::move(open_all(all, root).front());
  }
  bool const several = wish == "all" || wish == "cuda:all" || wish.find(',') != std::string_view::npos;
  throw Error(ErrorKind::bad_argument,
              "'" + std::string(wish) +
                  (several ? "' may be several devices, and here it is one" : "' is not a device") + ": say " +
                  names_of_one(makers) + ".");
}

Devices open_devices(std::string_view wishes, DeviceMakers makers, std::filesystem::path const& root) {
  std::vector<std::string> const names = names_of(wishes);
  std::vector<Named> all;
  for (std::string const& name : names) {
    auto one = named(name, names.size() > 1, makers);
    if (!one) {
      throw Error(ErrorKind::bad_argument, "'" + name + "' is not a device: say " + names_of_one(makers) +
                                               ", several of them with commas, or all.");
    }
    auto const same = [&](Named const& other) { return other.kind == DeviceKind::cuda && other.gpu == one->gpu; };
    if (one->kind == DeviceKind::cuda && std::ranges::any_of(all, same)) {
      throw Error(ErrorKind::bad_argument,
                  "'" + std::string(wishes) + "' names GPU " + std::to_string(one->gpu) + " twice: name each once.");
    }
    all.push_back(std::move(*one));
  }
  return Devices(open_all(all, root));
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
