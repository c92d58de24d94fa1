// SPDX-License-Identifier: Apache-2.0
// Three ways to wait for an event, and the CPU time that each takes from the thread. The first argument names the
// device.
#include <cstdio>
#include <ctime>

#include "floats.hpp"
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

double cpu_milliseconds() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) * 1e3 + static_cast<double>(spent.tv_nsec) / 1e6;
}

void poll(EventRef event) {
  while (!event.passed()) {
  }
}
void wait(EventRef event) {
  event.wait();
}

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  DeviceFloats const values(*device, std::size_t{1} << 22);
  struct {
    char const* name;
    void (*until)(EventRef event);
    EventOptions options;
  } const ways[] = {
      {"polling", poll, {}},                      // The thread notices the end first.
      {"waiting", wait, {}},                      // On a GPU the driver may poll, too.
      {"asleep", wait, {.blocking_wait = true}},  // The CPU is free for other threads.
  };
  Stream const stream = device->make_stream();
  for (auto const& way : ways) {
    Event const done = device->make_event(way.options);
    for (int i = 0; i < 10; ++i) transform(values.values(), 0, values.values(), stream);
    stream.record(done);
    double const before = cpu_milliseconds();
    way.until(done);
    std::printf("%s: %.3f ms of CPU time\n", way.name, cpu_milliseconds() - before);
  }
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
