// SPDX-License-Identifier: Apache-2.0
// A kernel that fails, and the call that reports it: not the launch, but the first one that waits for the device. With
// CUDA_LAUNCH_BLOCKING=1 that is the launch. The CPU device is used, which is lost for it as a GPU is; on a GPU run
// late_error_cuda.
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "held_stream.hpp"
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

int main() {
  auto const device = open_device("cpu");
  Event const event = device->make_event();
  HeldStream held(*device);
  StreamRef const stream = held;
  auto const fail = [](std::uint32_t) { throw std::runtime_error("this kernel reads where nothing is"); };
  std::pair<char const*, std::function<void()>> const calls[] = {
      {"hold", [&] { held.hold(); }},  // All calls are made before the device comes to the first kernel.
      {"launch", [&] { stream.launch(1, fail); }},
      {"launch behind it", [&] { stream.launch(1, [](std::uint32_t) {}); }},
      {"record", [&] { stream.record(event); }},
      {"wait",
       [&] {
         held.let_go();
         event.wait();
       }},
  };
  for (auto const& [name, call] : calls) {
    try {
      call();
      std::printf("%s: no error\n", name);
    } catch (Error const& error) {
      std::printf("%s: %s\n", name, error.what());
      return error.kind() == ErrorKind::device_lost && name == std::string(launches_block() ? "launch" : "wait") ? 0
                                                                                                                 : 1;
    }
  }
  return 1;
}
