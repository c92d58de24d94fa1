// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/pipeline_calls.hpp"

#include <atomic>
#include <memory>
#include <thread>

#include "support/gate.hpp"
#include "support/thread_state.hpp"
#include <gtest/gtest.h>
#include <unistd.h>

namespace penstock {
namespace {

/// What the caller destroys behind its call is in use until the pipeline is gone.
///
/// Seen to fail if a call that ends does not wait for that.
TEST(ACallInAPipelineThatEnds, ReturnsOnceThePipelineIsGone) {
  auto const calls = std::make_shared<PipelineCalls>();
  support::Gate gate;
  std::atomic<pid_t> caller{0};
  std::atomic<bool> returned{false};
  std::jthread const call([&] {
    caller = gettid();
    {
      PipelineCalls::Inside const inside(calls);
      gate.pass();
    }
    returned = true;
  });
  gate.await_reached();
  std::atomic<bool> waits{false};
  std::jthread const opener([&, here = gettid()] {
    waits.wait(false);
    support::await_asleep(here);
    gate.open();
  });
  waits = true;
  waits.notify_one();
  calls->await_all();
  support::await_asleep(caller);
  EXPECT_FALSE(returned);
  EXPECT_THROW(PipelineCalls::Inside const late(calls), Error);
  calls->let_go();
}

}  // namespace
}  // namespace penstock
