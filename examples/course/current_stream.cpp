// SPDX-License-Identifier: Apache-2.0
// A current device of the thread, and a current stream of each device, as PyTorch has them: code that names none uses
// these, and a guard changes one for a scope. The first argument names two devices: cpu,cpu or two of a model.
#include <cstdio>
#include <map>
#include <utility>

#include "timed_kernel.hpp"
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

struct Named {
  char const* name;
  StreamRef stream;
};
thread_local Device* current_device = nullptr;
thread_local std::map<Device*, Named> current_streams;

Named& current_stream() {
  return current_streams.at(current_device);
}

/// PyTorch's `with`: another current stream or device, until the scope ends.
template <typename Current>
class With {
 public:
  With(Current& current, Current other) : current_(current), before_(std::exchange(current, other)) {}
  ~With() { current_ = before_; }

 private:
  Current& current_;
  Current const before_;
};

/// It names neither device nor stream.
void launch(TimedKernel& kernel, char const* where) {
  current_device->attach();
  kernel.launch(current_stream().stream);
  std::printf("%s: %s, ", where, current_stream().name);
}

}  // namespace

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
  std::printf("then: %s\ninside ran %s outside, after ran %s it, second device %s it\n", current_stream().name,
              inside.place_beside(outside), after.place_beside(outside), elsewhere.place_beside(outside));
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
