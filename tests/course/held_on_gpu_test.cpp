// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <thread>

#include "support/cuda_kernels.hpp"
#include <unistd.h>

#include "course/held_laboratory.hpp"
#include "engine/cuda/cuda_device.hpp"
#include "engine/cuda/probe.hpp"

namespace penstock::lab {
namespace {

/// Kernels of a GPU. Each is three: one that notes when it started, one that is held, and one that notes when it ended.
class GpuHeldKernels final : public support::HeldKernels {
 public:
  explicit GpuHeldKernels(StreamRef stream) {
    kernels_.hold(stream).open();
    stream.synchronize();
  }

  WorkbenchOptions options() override {
    WorkbenchOptions options;
    options.launch = [this](KernelWish const& wish, Stamp* stamp, StreamRef stream) {
      // The three belong together, also in a stream that threads share.
      std::lock_guard const lock(mutex_);
      auto const no_time = std::chrono::nanoseconds(0);
      busy(no_time, 1, stamp, stream);
      auto hold = kernels_.hold(stream);
      busy(no_time, 1, stamp, stream);
      given_.push_back({std::string(wish.label), std::move(hold)});
      giver_ = gettid();
      if (all_may_end_ || holds(may_end_, given_.back().label)) given_.back().hold.open();
    };
    return options;
  }
  void await_given(std::size_t count) override {
    await([&] {
      std::lock_guard const lock(mutex_);
      return given_.size() >= count;
    });
  }
  pid_t giver() const override {
    std::lock_guard const lock(mutex_);
    return giver_;
  }
  /// Returns them in the order in which they were asked about, if several have started since the last look.
  std::vector<std::string> started() const override {
    std::lock_guard const lock(mutex_);
    for (Given const& one : given_) {
      if (one.hold.reached() && !holds(started_, one.label)) started_.push_back(one.label);
    }
    return started_;
  }
  void await_started(std::size_t count) override {
    await([&] { return started().size() >= count; });
  }
  void await_started(std::string const& label) override {
    await([&] { return has_started(label); });
  }
  void end(std::string const& label) override {
    std::lock_guard const lock(mutex_);
    may_end_.push_back(label);
    for (Given& one : given_) {
      if (one.label == label) one.hold.open();
    }
  }
  void end_all() override {
    std::lock_guard const lock(mutex_);
    all_may_end_ = true;
    for (Given& one : given_) one.hold.open();
  }

 private:
  struct Given {
    std::string label;
    support::Hold hold;
  };
  static bool holds(std::vector<std::string> const& labels, std::string const& label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  }
  template <class Condition>
  static void await(Condition condition) {
    while (!condition()) std::this_thread::yield();
  }

  support::CudaKernels kernels_;
  std::mutex mutable mutex_;
  std::deque<Given> given_;
  pid_t giver_ = 0;
  std::vector<std::string> mutable started_;
  std::vector<std::string> may_end_;
  bool all_may_end_ = false;
};

std::unique_ptr<Device> gpu_to_hold() {
  if (!support::CudaKernels().run_beside_each_other()) return nullptr;
  support::let_many_streams_run_at_once();
  if (!cuda::probe().usable()) return nullptr;
  return std::make_unique<cuda::CudaDevice>();
}

HeldDevice held_gpu() {
  return {.name = "Gpu",
          .make = gpu_to_hold,
          .make_kernels = [](StreamRef stream) { return std::make_unique<GpuHeldKernels>(stream); },
          .expect_nothing_lent =
              [](Device& device) { EXPECT_FALSE(device.take_refusal()) << "left for somebody else to find"; }};
}

INSTANTIATE_TEST_SUITE_P(, HeldLaboratory, testing::Values(held_gpu()), name_of_device);

}  // namespace
}  // namespace penstock::lab
