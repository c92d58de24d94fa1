// SPDX-License-Identifier: Apache-2.0
// PyTorch's current device of a thread, and current stream of each device: code that names none uses these, and a guard
// changes one for a scope. The first argument names two devices: cpu,cpu or two of a model.
#include <cstdio>
#include <map>
#include <utility>

#include "timed_kernel.hpp"
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

using Named = std::pair<char const*, StreamRef>;
static thread_local Device* current_device = nullptr;
static thread_local std::map<Device*, Named> current_streams;

static Named& current_stream() {
  return current_streams.at(current_device);
}

/// PyTorch's `with`: another current stream or device, until the scope ends.
template <typename Current>
struct With {
  With(Current& kept, Current other) : current(kept), before(std::exchange(kept, other)) {}
  ~With() { current = before; }
  Current& current;
  Current const before;
};

/// It names neither device nor stream.
static void launch(TimedKernel& kernel, char const* where) {
  current_device->attach();
  kernel.launch(current_stream().second);
  std::printf("%s: %s, ", where, current_stream().first);
}

int main(int count, char** arguments) try {
  Devices const devices = open_devices(count > 1 ? arguments[1] : "cpu,cpu");
  Device &one = devices.front(), &two = *devices.all().back();
  TimedKernel outside, inside, elsewhere, after;
  Stream const a = one.make_stream(), b = one.make_stream(), c = two.make_stream();
  current_streams = {{&one, {"A", a}}, {&two, {"C", c}}};
  current_device = &one;
  launch(outside, "outside");
  {
    With const stream(current_stream(), {"B", b});
    launch(inside, "inside");
  }
  launch(after, "after");
  {
    With const device(current_device, &two);
    launch(elsewhere, "second device");
  }
  for (StreamRef const stream : {StreamRef(a), StreamRef(b), StreamRef(c)}) stream.synchronize();
  std::printf("then: %s\ninside ran %s outside, after ran %s it, second device %s it\n", current_stream().first,
              inside.place_beside(outside), after.place_beside(outside), elsewhere.place_beside(outside));
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
