// SPDX-License-Identifier: Apache-2.0
// Experiment: an error that a device reports long after the call that caused it.
#include <array>
#include <stdexcept>
#include <utility>

#include "course/experiment.hpp"
#include "course/held_stream.hpp"
#include "course/judgements.hpp"
#include "course/workbench.hpp"
#include "engine/cpu/cpu_device.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr auto cause = "kernel 2 reads where nothing is";

/// Launches three kernels, the second of which fails, on a separate device, which is lost by that. Either the host
/// waits behind each call, or all calls are made before the device comes to the first kernel.
LateErrorSeen first_to_say(Workbench& bench, bool wait_each_time) {
  cpu::CpuDevice device({.compute_threads = 1});
  Event const event = device.make_event();
  HeldStream held(device);
  StreamRef const stream = held.ref();
  using Call = std::pair<char const*, std::function<void()>>;
  std::array<Call, 5> const calls{
      Call{"launch 1", [&] { stream.launch(1, [](std::uint32_t) {}); }},
      Call{"launch 2", [&] { stream.launch(1, [](std::uint32_t) { throw std::runtime_error(cause); }); }},
      Call{"launch 3", [&] { stream.launch(1, [](std::uint32_t) {}); }},
      Call{"record", [&] { stream.record(event); }},
      Call{"synchronize",
           [&] {
             held.let_go();
             stream.synchronize();
           }},
  };
  if (!wait_each_time) held.hold();
  LateErrorSeen seen;
  for (auto const& [name, call] : calls) {
    auto const began = HostClock::now();
    try {
      call();
      if (wait_each_time) stream.synchronize();
    } catch (Error const& error) {
      seen.by = name;
      seen.lost = error.kind() == ErrorKind::device_lost;
      seen.names_cause = std::string(error.what()).find(cause) != std::string::npos;
    }
    bench.note(wait_each_time ? "host that waits" : "host", name, began, HostClock::now());
    if (!seen.by.empty()) break;
  }
  return seen;
}

Observation fail_late(Workbench& bench) {
  LateErrorSeen seen = first_to_say(bench, false);
  seen.blocking = launches_block();
  seen.by_with_waits = first_to_say(bench, true).by;
  return {bench.intervals(), {}, verdict_on_late_error(seen)};
}

}  // namespace

Experiment late_error() {
  return {.name = "late-error",
          .expectation =
              "A launch whose kernel fails returns as if all were well, and so do the calls behind it; the first that "
              "waits for the device throws, and names the kernel's fault. With a wait behind each call, or with "
              "CUDA_LAUNCH_BLOCKING=1, that is the launch itself. A CPU device is lost for that, whichever device the "
              "others use.",
          .why =
              "On a GPU the error does not say which launch it was. In a pipeline it is that of a tile: the report of "
              "attribution(), and hash --attribute, name the tile.",
          .claim = Claim::must,
          .run = fail_late};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
