// SPDX-License-Identifier: Apache-2.0
// A CPU device for which the system has too few threads.
#include <cerrno>
#include <string>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Number of threads that are still to be had.
int threads_left = 1 << 20;

}  // namespace
}  // namespace penstock

/// Takes the place of the system's: std::thread calls it.
extern "C" int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*body)(void*),
                              void* argument) noexcept {
  using Create = int (*)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
  static auto const create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (penstock::threads_left == 0) return EAGAIN;
  --penstock::threads_left;
  return create(thread, attributes, body, argument);
}

namespace penstock {
namespace {

/// Its engines are one thread for uploads, one for downloads, three for kernels and two for callbacks.
constexpr unsigned compute_threads = 3;
constexpr unsigned callback_threads = 2;
constexpr int all = 2 + compute_threads + callback_threads;

struct ADeviceWithTooFewThreads : testing::TestWithParam<int> {
  void TearDown() override { threads_left = 1 << 20; }
};

TEST_P(ADeviceWithTooFewThreads, IsRefusedWithARemedy) {
  threads_left = GetParam();
  try {
    cpu::CpuDevice const device({.compute_threads = compute_threads, .callback_threads = callback_threads});
    FAIL() << "it was made of " << GetParam() << " threads";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::system);
    EXPECT_THAT(error.what(), testing::HasSubstr("got only " + std::to_string(GetParam()) + " threads"));
    EXPECT_THAT(error.what(), testing::HasSubstr("ask for fewer of them, let more be started (ulimit -u"));
  }
}
INSTANTIATE_TEST_SUITE_P(Of, ADeviceWithTooFewThreads, testing::Range(0, all));

TEST(ADeviceWithJustEnoughThreads, Works) {
  threads_left = all;
  cpu::CpuDevice device({.compute_threads = compute_threads, .callback_threads = callback_threads});
  Stream const stream = device.make_stream();
  bool ran = false;
  stream.launch(1, [&](std::uint32_t) { ran = true; });
  stream.synchronize();
  EXPECT_TRUE(ran);
  EXPECT_EQ(threads_left, 0);
  threads_left = 1 << 20;
}

}  // namespace
}  // namespace penstock
