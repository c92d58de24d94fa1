// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/health.hpp"

#include <atomic>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// The health of a device that nothing happened to yet.
struct NewHealth : testing::Test {
  std::string thrown(cudaError_t result, char const* what) {
    try {
      health.check(result, what);
    } catch (Error const& error) {
      kind = error.kind();
      return error.what();
    }
    ADD_FAILURE() << what << " did not throw";
    return {};
  }
  std::string reported(cudaError_t result, char const* what) {
    testing::internal::CaptureStderr();
    health.report(result, what);
    return testing::internal::GetCapturedStderr();
  }

  Health health;
  ErrorKind kind = ErrorKind::system;
};

TEST_F(NewHealth, KnowsNoFault) {
  EXPECT_FALSE(health.fault());
}

TEST_F(NewHealth, SurvivesARefusal) {
  thrown(cudaErrorInvalidValue, "cudaMemcpyAsync");
  EXPECT_EQ(kind, ErrorKind::device_refused);
  EXPECT_FALSE(health.fault());
}

TEST_F(NewHealth, RemembersTheFirstFaultOnly) {
  thrown(cudaErrorIllegalAddress, "cudaEventQuery");
  thrown(cudaErrorLaunchFailure, "cudaStreamQuery");
  ASSERT_TRUE(health.fault());
  EXPECT_THAT(health.fault()->what(), AllOf(HasSubstr("cudaEventQuery"), HasSubstr("cudaErrorIllegalAddress")));
}

TEST_F(NewHealth, NamesTheCauseInEveryLaterRefusal) {
  thrown(cudaErrorIllegalAddress, "cudaEventQuery");
  // Even one that would be harmless on a device in good health.
  std::string const later = thrown(cudaErrorInvalidValue, "cudaMalloc");
  EXPECT_EQ(kind, ErrorKind::device_lost);
  EXPECT_THAT(later, AllOf(HasSubstr("cudaMalloc came too late"), HasSubstr("cudaEventQuery"),
                           HasSubstr("cudaErrorIllegalAddress")));
}

TEST_F(NewHealth, LetsNothingThroughOnceItKnowsAFault) {
  EXPECT_NO_THROW(health.expect_alive("A call"));
  thrown(cudaErrorIllegalAddress, "cudaEventQuery");
  EXPECT_THROW(health.expect_alive("A call"), Error);
}

TEST_F(NewHealth, NotesAFaultWithoutThrowing) {
  health.note(cudaErrorNotReady, "cudaStreamQuery");
  EXPECT_FALSE(health.fault());
  health.note(cudaErrorECCUncorrectable, "cudaStreamQuery");
  EXPECT_TRUE(health.fault());
}

TEST_F(NewHealth, TakesAStreamOfTheDevicesOwnThatIsNoneForALoss) {
  health.note_answer(cudaSuccess, "cudaStreamQuery");
  health.note_answer(cudaErrorNotReady, "cudaStreamQuery");
  health.note_answer(cudaErrorStreamCaptureUnsupported, "cudaStreamQuery");
  EXPECT_FALSE(health.fault()) << "another thread captures";
  health.note_answer(cudaErrorInvalidResourceHandle, "cudaStreamQuery");
  ASSERT_TRUE(health.fault());
  EXPECT_TRUE(health.fault()->sticky());
  EXPECT_THAT(health.fault()->what(), AllOf(HasSubstr("cudaErrorInvalidResourceHandle"), HasSubstr("cudaDeviceReset")));
}

TEST_F(NewHealth, TakesAContextThatIsGoneForALoss) {
  health.note_answer(cudaErrorContextIsDestroyed, "cudaStreamQuery");
  ASSERT_TRUE(health.fault());
  EXPECT_THAT(health.fault()->what(), HasSubstr("cudaDeviceReset"));
}

TEST_F(NewHealth, TellsWhatCodeThatAskedNobodyLeftBehind) {
  EXPECT_FALSE(health.left_behind(cudaSuccess));
  EXPECT_FALSE(health.left_behind(cudaErrorNotReady));
  auto const refusal = health.left_behind(cudaErrorInvalidConfiguration);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->kind(), ErrorKind::device_refused);
  EXPECT_THAT(refusal->what(), AllOf(HasSubstr("result was not checked, was refused: cudaErrorInvalidConfiguration"),
                                     Not(HasSubstr(".cpp"))));
  EXPECT_FALSE(health.fault());
}

TEST_F(NewHealth, RemembersAFaultThatWasLeftBehind) {
  auto const refusal = health.left_behind(cudaErrorIllegalAddress);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->kind(), ErrorKind::device_lost);
  ASSERT_TRUE(health.fault());
  EXPECT_EQ(std::string(health.left_behind(cudaErrorInvalidValue)->what()), health.fault()->what());
}

TEST_F(NewHealth, TakesNotReadyForNo) {
  EXPECT_FALSE(health.ready(cudaErrorNotReady, "cudaEventQuery"));
  EXPECT_TRUE(health.ready(cudaSuccess, "cudaEventQuery"));
  EXPECT_THROW(health.ready(cudaErrorIllegalAddress, "cudaEventQuery"), Error);
}

TEST_F(NewHealth, ReportsALostDeviceOnce) {
  EXPECT_THAT(reported(cudaErrorIllegalAddress, "cudaStreamSynchronize"), HasSubstr("cudaStreamSynchronize"));
  EXPECT_THAT(reported(cudaErrorIllegalAddress, "cudaStreamDestroy"), IsEmpty());
  EXPECT_THAT(reported(cudaErrorInvalidResourceHandle, "cudaEventDestroy"), IsEmpty());
  EXPECT_TRUE(health.fault());
}

TEST_F(NewHealth, ReportsEveryFailureWhileTheDeviceLives) {
  EXPECT_THAT(reported(cudaErrorInvalidResourceHandle, "cudaEventDestroy"), HasSubstr("cudaEventDestroy"));
  EXPECT_THAT(reported(cudaErrorInvalidResourceHandle, "cudaStreamDestroy"), HasSubstr("cudaStreamDestroy"));
  EXPECT_FALSE(health.fault());
}

TEST_F(NewHealth, IsNotMadeIllByASuccessfulCleanUp) {
  EXPECT_THAT(reported(cudaSuccess, "cudaFree"), IsEmpty());
  EXPECT_FALSE(health.fault());
}

TEST_F(NewHealth, GivesAllThreadsTheSameCause) {
  constexpr int threads = 4;
  std::latch start(threads);
  std::vector<std::string> told(threads);
  {
    std::vector<std::jthread> group;
    for (int i = 0; i < threads; ++i) {
      group.emplace_back([&, i] {
        start.arrive_and_wait();
        std::string const name = "call " + std::to_string(i);
        try {
          health.check(cudaErrorIllegalAddress, name.c_str());
        } catch (Error const& error) {
          told[static_cast<std::size_t>(i)] = error.what();
        }
      });
    }
  }
  ASSERT_TRUE(health.fault());
  for (std::string const& sentence : told) EXPECT_THAT(sentence, HasSubstr(health.fault()->what()));
}

}  // namespace
}  // namespace penstock::cuda
