// SPDX-License-Identifier: Apache-2.0
#include "penstock/devices/open_device.hpp"

#include <charconv>

#include "penstock/cpu/cpu_device.hpp"
#include "penstock/machine/affinity.hpp"
#include "penstock/machine/cgroup.hpp"
#ifdef PENSTOCK_WITH_CUDA
#include "penstock/cuda/cuda_device.hpp"
#include "penstock/cuda/enumerate.hpp"
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
  throw Error(ErrorKind::unsupported, gpu_sentence() + " Use --device cpu, or build penstock where nvcc is installed.");
}
#endif

std::unique_ptr<Device> open_cpu(std::filesystem::path const& root) {
  auto const threads = CgroupLimits::read(root).busy_threads(affinity_of_this_thread().size());
  return std::make_unique<cpu::CpuDevice>(
      cpu::CpuOptions{.compute_threads = static_cast<unsigned>(threads), .flavour = flavour()});
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

std::unique_ptr<Device> open_device(std::string_view wish, std::filesystem::path const& root) {
  if (wish == "cpu") return open_cpu(root);
  if (wish == "auto") {
    if (!list_gpus().empty()) return open_gpu(0);
    return open_cpu(root);
  }
  if (wish == "cuda") return open_gpu(0);
  if (wish.starts_with("cuda:")) {
    std::string_view const number = wish.substr(5);
    int ordinal = -1;
    auto const [end, problem] = std::from_chars(number.data(), number.data() + number.size(), ordinal);
    if (problem == std::errc{} && end == number.data() + number.size() && ordinal >= 0) return open_gpu(ordinal);
  }
  throw Error(ErrorKind::bad_argument, "'" + std::string(wish) + "' is not a device: say auto, cpu, cuda or cuda:N.");
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
