// SPDX-License-Identifier: Apache-2.0
// entry_point_cost: what a launch into a stream of one's own costs by cuLaunchKernel and by its per-thread variant, in
// one process and in turn: penstock try gives a program the second in place of the first, and puts nothing between.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda.h>
#include <dlfcn.h>

namespace {

char const* const nothing = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n";

void* library() {
  static void* const opened = dlopen("libcuda.so.1", RTLD_NOW);
  if (opened == nullptr) std::exit(77);
  return opened;
}
template <class Function>
Function* found(char const* name) {
  return reinterpret_cast<Function*>(dlsym(library(), name));
}
void check(CUresult code) {
  if (code == CUDA_SUCCESS) return;
  std::fprintf(stderr, "error %d of the driver\n", static_cast<int>(code));
  std::exit(4);
}

}  // namespace

int main() {
  constexpr int rounds = 2000, launches = 500;
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction function;
  CUstream stream;
  check(found<decltype(cuInit)>("cuInit")(0));
  check(found<decltype(cuDeviceGet)>("cuDeviceGet")(&device, 0));
  check(found<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain")(&context, device));
  check(found<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent")(context));
  check(found<decltype(cuModuleLoadData)>("cuModuleLoadData")(&module, nothing));
  check(found<decltype(cuModuleGetFunction)>("cuModuleGetFunction")(&function, module, "nothing"));
  check(found<decltype(cuStreamCreate)>("cuStreamCreate")(&stream, CU_STREAM_NON_BLOCKING));
  auto* const wait = found<decltype(cuStreamSynchronize)>("cuStreamSynchronize");
  decltype(cuLaunchKernel)* const ways[] = {found<decltype(cuLaunchKernel)>("cuLaunchKernel"),
                                            found<decltype(cuLaunchKernel)>("cuLaunchKernel_ptsz")};
  std::vector<double> ratios, nanoseconds[2];
  for (int round = 0; round < rounds; ++round) {
    double took[2];
    for (int turn = 0; turn < 2; ++turn) {
      int const way = (round + turn) % 2;
      auto const begin = std::chrono::steady_clock::now();
      for (int i = 0; i < launches; ++i) ways[way](function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
      took[way] = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / launches;
      // A stream's queue has room for so many, so none has waited for the device.
      check(wait(stream));
      nanoseconds[way].push_back(took[way]);
    }
    ratios.push_back(took[1] / took[0]);
  }
  auto const median = [](std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
  };
  std::printf("cuLaunchKernel %.1f ns, cuLaunchKernel_ptsz %.1f ns, ratio %.4f (medians of %d times %d launches)\n",
              median(nanoseconds[0]), median(nanoseconds[1]), median(ratios), rounds, launches);
}
