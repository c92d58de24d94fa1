// SPDX-License-Identifier: Apache-2.0
// As in PyTorch, each operation runs backward in the stream in which it ran forward, whichever stream is current then:
// A is held back, and only its gradient is late. A stream that reads gradients must wait for both. The first argument
// names the device.
#include <cstdio>
#include <functional>
#include <vector>

#include "floats.hpp"
#include "held_stream.hpp"
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

/// What is kept of each operation: its stream, its way backward, and an event behind that.
struct Operation {
  StreamRef stream;
  std::function<void(StreamRef)> backward;
  Event done;
};

struct Seen {
  bool left_over, right_over;  ///< Backward, while A is held.
  float gradient;              ///< As the current stream reads it. 3 is right.
};

/// "left" is x + x in stream A, "right" is x + 1 in stream B. Their gradients for x are 2 and 1.
Seen run(Device& device, bool wait_for_gradients) {
  constexpr std::size_t size = std::size_t{1} << 16;
  PinnedFloats const ones(device, size, 1), zeros(device, size), host(device, size);
  DeviceFloats const x(device, size), one(device, size), zero(device, size), left(device, size), right(device, size),
      left_gradient(device, size), right_gradient(device, size), gradient(device, size);
  Stream const b = device.make_stream(), current = device.make_stream();
  HeldStream a(device);
  sum_prepare(b);
  for (auto const& [memory, values] : {std::pair(&x, &ones), {&one, &ones}, {&zero, &zeros}, {&left_gradient, &zeros}})
    upload(memory->values(), values->values(), b);
  b.synchronize();

  std::vector<Operation> tape;
  auto const forward = [&](StreamRef stream, DeviceFloats const& other, DeviceFloats const& result, auto backward) {
    sum(x.values(), other.values(), result.values(), stream);
    tape.push_back({stream, backward, device.make_event()});
  };
  forward(a, x, left, [&](StreamRef s) { sum(one.values(), one.values(), left_gradient.values(), s); });
  forward(b, one, right, [&](StreamRef s) { sum(one.values(), zero.values(), right_gradient.values(), s); });
  StreamRef(a).synchronize();

  a.hold();
  for (auto operation = tape.rbegin(); operation != tape.rend(); ++operation) {
    operation->backward(operation->stream);
    operation->stream.record(operation->done);
    if (wait_for_gradients) current.wait(operation->done);
  }
  tape[1].done.wait();
  Seen seen{tape[0].done.passed(), tape[1].done.passed(), 0};
  sum(left_gradient.values(), right_gradient.values(), gradient.values(), current);
  download(host.values(), gradient.values(), current);
  if (!wait_for_gradients) current.synchronize();  // It has read what A has yet to write.
  a.let_go();
  for (StreamRef const stream : {StreamRef(a), StreamRef(current)}) stream.synchronize();
  seen.gradient = host.values()[0];
  return seen;
}

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  Seen const without = run(*device, false), with = run(*device, true);
  auto const state = [](bool over) { return over ? "over" : "not yet"; };
  std::printf("A is held: left in A ran backward: %s, right in B: %s\n", state(with.left_over), state(with.right_over));
  std::printf("without a wait the current stream reads a gradient of %.0f\n", without.gradient);
  std::printf("with a wait for A and B it reads %.0f: %s\n", with.gradient, with.gradient == 3 ? "right" : "wrong");
  return !with.left_over && with.right_over && without.gradient == 1 && with.gradient == 3 ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
