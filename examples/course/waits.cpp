// SPDX-License-Identifier: Apache-2.0
// Ways to wait: how long each keeps the host, and what is over then. Stream A has a kernel of 10 ms; stream B has one
// of 15 ms, an event and one of 5 ms. The first argument is cpu or a model.
#include <cstdio>

#include "timed_kernel.hpp"
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;
using namespace std::chrono_literals;

namespace {

/// Streams with work, an event in the middle of B's, and one that was never recorded.
struct Work {
  Device& device;
  StreamRef a, b;
  EventRef event, another;
};

struct {
  char const* name;
  void (*wait)(Work const& work);
} constexpr ways[] = {
    {"Device::synchronize", [](Work const& work) { work.device.synchronize(); }},  // All streams.
    {"Stream::synchronize", [](Work const& work) { work.a.synchronize(); }},       // One stream.
    {"Event::wait", [](Work const& work) { work.event.wait(); }},                  // What stands before it in B.
    {"StreamRef::wait", [](Work const& work) { work.a.wait(work.event); }},        // A waits for it, the host does not.
    {"record and wait",                                                            // PyTorch's wait_stream.
     [](Work const& work) {
       work.b.record(work.another);
       work.a.wait(work.another);
     }},
    {"idle", [](Work const& work) { static_cast<void>(work.a.idle()); }},  // A question: PyTorch's query.
};

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "cpu");
  std::printf("%-20s %10s  %s\n", "", "host kept", "A done  event passed  B done");
  for (auto const& way : ways) {
    TimedKernel kernels[3];
    Event const event = device->make_event(), another = device->make_event();
    Stream const a = device->make_stream(), b = device->make_stream();
    kernels[0].launch(a, 10ms);
    kernels[1].launch(b, 15ms);
    b.record(event);
    kernels[2].launch(b, 5ms);
    auto const called = Clock::now();
    way.wait({*device, a, b, event, another});
    double const kept = std::chrono::duration<double, std::milli>(Clock::now() - called).count();
    // A stream that waits for an event is not idle.
    auto const say = [](bool over) { return over ? "yes" : "no"; };
    std::printf("%-20s %7.1f ms  %6s  %12s  %6s\n", way.name, kept, say(a.idle()), say(event.passed()), say(b.idle()));
  }
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
