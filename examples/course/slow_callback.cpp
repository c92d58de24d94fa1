// SPDX-License-Identifier: Apache-2.0
// Two callbacks. One notes a number and wakes a thread, which is all that a callback should do. The other one takes its
// time: its own stream stands still until it returns, and another stream continues. The first argument names the
// device.
#include <atomic>
#include <cstdio>

#include "floats.hpp"
#include "held_stream.hpp"
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

/// The device calls it on a thread of its own, in the middle of its work.
class Notice final : public StreamCallback {
 public:
  void called(StreamStatus status) noexcept override {
    state_ = status.ok ? 1 : 2;
    state_.notify_one();
  }
  /// Waits until it was called, and returns whether the work before it went well.
  bool await() const noexcept {
    state_.wait(0);
    return state_ == 1;
  }

 private:
  std::atomic<int> state_{0};
};

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  DeviceFloats const a(*device, 1000), b(*device, 1000);
  Event const done = device->make_event();
  Notice notice;  // It must live until it was called, or its stream is destroyed.
  Stream const other = device->make_stream();
  HeldStream held(*device);
  StreamRef const slow = held;

  // To load a kernel a GPU may wait for all streams, also for one that is held: so this comes before.
  sum_prepare(other);
  held.hold();  // This is a callback that returns when the host says so.
  sum(a.values(), a.values(), a.values(), slow);
  slow.record(done);
  sum(b.values(), b.values(), b.values(), other);
  other.synchronize();
  std::printf("the other stream is through; what is behind the callback has %s\n", done.passed() ? "run" : "not begun");
  held.let_go();
  slow.call(notice);
  if (!notice.await()) return 1;
  std::printf("the work went well\n");
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
