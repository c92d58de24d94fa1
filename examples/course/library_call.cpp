// SPDX-License-Identifier: Apache-2.0
// A library that was compiled the legacy way, called between two kernels. It joins a thread's own default stream, which
// is a blocking one, and leaves a non-blocking stream alone. The first argument is cpu or a model.
#include <cstdio>

#include "timed_kernel.hpp"
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

/// The library. How it was compiled decides what "0" means in it, whatever its callers were compiled with.
void call_library(Device& device, TimedKernel& kernel) {
  kernel.launch(device.legacy_default_stream());
}

void call_between(Device& device, char const* name, StreamRef stream) {
  TimedKernel first, library, last;
  first.launch(stream);
  call_library(device, library);
  last.launch(stream);
  stream.synchronize();
  device.legacy_default_stream().synchronize();
  std::printf("%s: the library's kernel ran %s the first, and the last %s it\n", name, library.place_beside(first),
              last.place_beside(library));
}

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "cpu");
  call_between(*device, "per-thread default stream", device->per_thread_default_stream());
  Stream const own = device->make_stream();
  call_between(*device, "non-blocking stream", own);
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
