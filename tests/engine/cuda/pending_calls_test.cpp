// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/pending_calls.hpp"

#include <atomic>
#include <optional>
#include <thread>

#include "support/calls.hpp"
#include "support/gate.hpp"
#include <gmock/gmock.h>

namespace penstock::cuda {
namespace {

using support::Calls;
using support::NotedCallback;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr StreamStatus lost{.ok = false, .sticky = true, .code = 700};

/// A stream's calls; the test is the driver.
struct CallsOfAStream : testing::Test {
  std::optional<PendingCalls> pending{std::in_place};
  Calls calls;
  NotedCallback first{calls, 1}, second{calls, 2};
};

TEST_F(CallsOfAStream, AreMadeOnceEachWithWhatTheDriverSays) {
  auto& one = pending->owe(first);
  auto& two = pending->owe(second);
  PendingCalls::make(two, {});
  PendingCalls::make(one, lost);
  PendingCalls::make(one, lost);
  EXPECT_THAT(calls.numbers(), ElementsAre(2, 1));
  EXPECT_TRUE(calls.all()[0].status.ok);
  EXPECT_TRUE(calls.all()[1].status.sticky);
  EXPECT_EQ(calls.all()[1].status.code, 700);
}

TEST_F(CallsOfAStream, AreReusedOnceMade) {
  auto* const one = &pending->owe(first);
  auto* const two = &pending->owe(first);
  EXPECT_NE(one, two);
  PendingCalls::make(*one, {});
  EXPECT_EQ(&pending->owe(second), one);
  PendingCalls::make(*one, {});
  EXPECT_THAT(calls.numbers(), ElementsAre(1, 2));
}

TEST_F(CallsOfAStream, ReachNobodyOnceTheStreamIsGone) {
  auto& late = pending->owe(first);
  pending.reset();
  PendingCalls::make(late, lost);
  EXPECT_THAT(calls.all(), IsEmpty());
}

TEST_F(CallsOfAStream, ReachNobodyOnceTheDriverRefusedThem) {
  auto& refused = pending->owe(first);
  PendingCalls::drop(refused);
  PendingCalls::make(refused, {});
  EXPECT_THAT(calls.all(), IsEmpty());
  EXPECT_NE(&pending->owe(second), &refused) << "the driver may still hold it";
}

/// Takes as long as the thread that destroys its stream needs to come to that.
class SlowCallback final : public StreamCallback {
 public:
  void called(StreamStatus) noexcept override {
    gate.pass();
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    returned = true;
  }
  support::Gate gate;
  std::atomic<bool> returned{false};
};

TEST_F(CallsOfAStream, AreWaitedForWhileTheyAreBeingMade) {
  SlowCallback slow;
  auto& call = pending->owe(slow);
  std::jthread const driver([&] { PendingCalls::make(call, {}); });
  slow.gate.await_reached();
  slow.gate.open();
  pending.reset();
  EXPECT_TRUE(slow.returned);
}

}  // namespace
}  // namespace penstock::cuda
