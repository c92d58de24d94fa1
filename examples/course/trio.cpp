// SPDX-License-Identifier: Apache-2.0
// Three kernels: in a stream, in the default stream, in the same stream. This source is compiled twice. In `trio` the
// default stream is the calling thread's own, in `trio-legacy` it is the one of the device, which is serialised with
// all its blocking streams. The first argument is cpu or a model; on a GPU run trio_cuda.
#include <cstdio>

#include "timed_kernel.hpp"
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

void run_trio(Device& device, bool blocking) {
  TimedKernel first, middle, last;
  StreamRef const zero = device.thread_default_stream();  // How this file is compiled decides what "0" means.
  Stream const stream = device.make_stream({.blocking = blocking});
  first.launch(stream);
  middle.launch(zero);
  last.launch(stream);
  stream.synchronize();
  zero.synchronize();
  std::printf("%s stream: 0 ran %s the first kernel, and the last one %s 0\n", blocking ? "blocking" : "non-blocking",
              middle.place_beside(first), last.place_beside(middle));
}

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "cpu");
  std::printf("0 is the %s default stream\n", flavour_name(device->flavour()).data());
  run_trio(*device, true);
  run_trio(*device, false);
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
