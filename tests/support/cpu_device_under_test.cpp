// SPDX-License-Identifier: Apache-2.0
#include "support/cpu_device_under_test.hpp"

#include <memory>
#include <string>
#include <utility>

#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"
#include "models/modelled_time.hpp"

namespace penstock::support {

namespace {

DeviceUnderTest device_under_test(std::string name, Flavour flavour, cpu::TimeKeeperMaker const& time) {
  auto const make = [flavour, time](int ordinal) {
    // One compute thread more than the contract asks for: the main thread's work goes on beside all holds.
    return std::make_unique<cpu::FaultyCpuDevice>(
        cpu::CpuOptions{.ordinal = ordinal, .compute_threads = 10, .flavour = flavour, .time = time});
  };
  return {.name = std::move(name),
          .make = [make] { return make(0); },
          .make_second = [make] { return make(1); },
          .kernels = std::make_shared<CpuKernels>(),
          .launch_in_vain =
              [](Device& device, StreamRef stream) {
                dynamic_cast<cpu::FaultyCpuDevice&>(device).inject(cpu::Fault::drop_launch);
                stream.launch(1, [](std::uint32_t) { ADD_FAILURE() << "a refused kernel ran"; });
              },
          .expect_nothing_lent =
              [](Device& device) {
                EXPECT_EQ(dynamic_cast<cpu::FaultyCpuDevice&>(device).outstanding(), cpu::Outstanding{});
              }};
}

}  // namespace

DeviceUnderTest cpu_device_under_test(Flavour flavour) {
  return device_under_test(flavour == Flavour::legacy ? "CpuLegacy" : "Cpu", flavour, {});
}

DeviceUnderTest modelled_gpu_under_test() {
  using Time = cpu::DeviceModel::Time;
  cpu::DeviceModel model;
  model.name = "a quick GPU";
  model.link = {.up = 50, .down = 50, .both = 40, .mapped = 40, .pageable = 10, .copy = Time(1)};
  model.kernels = {.units = 100, .threads_per_unit = 2048, .memory = 1'000, .tera_flops = 10, .start = Time(1)};
  model.completions = {.noticed = Time(2), .called = Time(3)};
  return device_under_test("Model", Flavour::per_thread, cpu::modelled_time(model));
}

}  // namespace penstock::support
