// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/check.hpp"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::cuda {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;

/// Every number that CUDA 13.0 gives to an error lies below this one; 999 is cudaErrorUnknown.
constexpr int beyond_the_last_error = 1000;

struct Check : testing::Test {
  static Error thrown(cudaError_t result) {
    try {
      check(result, "cudaMemcpyAsync");
    } catch (Error const& error) {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return Error(ErrorKind::system, "");
  }
  static std::string reported(cudaError_t result) {
    testing::internal::CaptureStderr();
    report(result, "cudaStreamDestroy");
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(Check, LetsSuccessPass) {
  EXPECT_NO_THROW(check(cudaSuccess, "cudaMemcpyAsync"));
}

TEST_F(Check, SaysCallNameWordsAndPlace) {
  std::string const sentence = thrown(cudaErrorInvalidValue).what();
  EXPECT_THAT(sentence, AllOf(HasSubstr("cudaMemcpyAsync"), HasSubstr("cudaErrorInvalidValue"),
                              HasSubstr("invalid argument"), ContainsRegex("at cuda/check_test.cpp:[0-9]+\\. ")));
}

TEST_F(Check, SaysTheLineOfItsCaller) {
  int line = 0;
  try {
    line = __LINE__ + 1;
    check(cudaErrorInvalidValue, "cudaMalloc");
  } catch (Error const& error) {
    EXPECT_THAT(error.what(), HasSubstr("check_test.cpp:" + std::to_string(line) + "."));
  }
}

TEST_F(Check, CallsARefusalARefusalAndALostDeviceLost) {
  EXPECT_THAT(thrown(cudaErrorInvalidValue).what(), HasSubstr("was refused"));
  EXPECT_THAT(thrown(cudaErrorIllegalAddress).what(), HasSubstr("the device is lost"));
}

TEST_F(Check, NamesTheRemedyOfAFaultInAKernel) {
  EXPECT_THAT(thrown(cudaErrorIllegalAddress).what(), HasSubstr("compute-sanitizer"));
}

TEST_F(Check, HasARemedyForEveryError) {
  for (int code = 1; code < beyond_the_last_error; ++code) {
    std::string_view const remedy = remedy_for(static_cast<cudaError_t>(code));
    EXPECT_TRUE(remedy.ends_with('.')) << code << ": " << remedy;
  }
}

TEST_F(Check, TellsExactlyTheStickyErrorsFromTheRest) {
  std::set<int> sticky;
  for (int code = 0; code < beyond_the_last_error; ++code) {
    if (is_sticky(static_cast<cudaError_t>(code))) sticky.insert(code);
  }
  EXPECT_THAT(sticky, testing::ElementsAre(4, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810,
                                           911, 999));
}

TEST_F(Check, MakesStickyErrorsKnowTheyAreSticky) {
  EXPECT_TRUE(thrown(cudaErrorLaunchFailure).sticky());
  EXPECT_FALSE(thrown(cudaErrorInvalidConfiguration).sticky());
}

TEST_F(Check, SortsErrorsByWhatCanBeDone) {
  EXPECT_EQ(kind_of(cudaErrorMemoryAllocation), ErrorKind::out_of_device_memory);
  EXPECT_EQ(kind_of(cudaErrorInvalidDevice), ErrorKind::no_device);
  EXPECT_EQ(kind_of(cudaErrorNoKernelImageForDevice), ErrorKind::unsupported);
  EXPECT_EQ(kind_of(cudaErrorInvalidValue), ErrorKind::device_refused);
  EXPECT_EQ(kind_of(cudaErrorSystemDriverMismatch), ErrorKind::driver_too_old);
  EXPECT_EQ(kind_of(cudaErrorAssert), ErrorKind::device_lost);
}

TEST_F(Check, ReportsOneLine) {
  EXPECT_THAT(reported(cudaErrorInvalidResourceHandle),
              AllOf(ContainsRegex("^penstock: cudaStreamDestroy failed"), HasSubstr("cudaErrorInvalidResourceHandle"),
                    ContainsRegex("cuda/check_test.cpp:[0-9]+\\.\n$")));
}

TEST_F(Check, ReportsNothingWhenThereIsNothingToReport) {
  EXPECT_THAT(reported(cudaSuccess), IsEmpty());
}

TEST_F(Check, ReportsNothingWhenTheProcessEnds) {
  EXPECT_THAT(reported(cudaErrorCudartUnloading), IsEmpty());
}

}  // namespace
}  // namespace penstock::cuda
