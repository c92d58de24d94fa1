// SPDX-License-Identifier: Apache-2.0
#include "penstock/core/current_failure.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace penstock {
namespace {

/// Some user's code, "decode", whose exceptions that are no Error count as bad arguments.
struct CurrentFailure : testing::Test {
  template <class Thrown>
  static Failure of(Thrown thrown) {
    try {
      throw thrown;
    } catch (...) {
      return *current_failure("decode", ErrorKind::bad_argument);
    }
  }
};

TEST_F(CurrentFailure, KeepsTextAndKindOfAnError) {
  Failure const failure = of(Error(ErrorKind::device_lost, "Gone."));
  EXPECT_EQ(failure.stage, "decode");
  EXPECT_EQ(failure.reason, "Gone.");
  EXPECT_EQ(failure.kind, ErrorKind::device_lost);
}

TEST_F(CurrentFailure, KeepsTheTextOfAnyStandardException) {
  Failure const failure = of(std::out_of_range("Row 7 is not there."));
  EXPECT_EQ(failure.stage, "decode");
  EXPECT_EQ(failure.reason, "Row 7 is not there.");
  EXPECT_EQ(failure.kind, ErrorKind::bad_argument);
}

TEST_F(CurrentFailure, HasASentenceForWhatIsNoException) {
  Failure const failure = of(42);
  EXPECT_EQ(failure.stage, "decode");
  EXPECT_EQ(failure.reason, "It threw something that is not a std::exception.");
  EXPECT_EQ(failure.kind, ErrorKind::bad_argument);
}

}  // namespace
}  // namespace penstock
