// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/cuda/probe.hpp"
#include "penstock/error.hpp"

namespace penstock::cuda {

/// Complaints of a scenario: on stderr and, if there was anything, in its exit code.
class Verdict {
 public:
  void expect(bool holds, std::string const& what) {
    if (holds) return;
    std::fprintf(stderr, "BROKEN: %s\n", what.c_str());
    broken_ = true;
  }
  /// Expects an Error of kind device_lost that names the cause.
  template <class Call>
  void expect_lost(char const* what, Call call) {
    try {
      call();
      expect(false, std::string(what) + " was served");
    } catch (Error const& error) {
      expect(error.sticky() && std::string(error.what()).find("cudaErrorIllegalAddress") != std::string::npos,
             std::string(what) + " said: " + error.what());
    }
  }
  int exit_code() const { return broken_ ? 1 : 0; }

 private:
  bool broken_ = false;
};

/// A GPU's context that has met a fault stays lost until its process ends: each scenario is played in one of its own.
struct ALostGpu : testing::Test {
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (auto const verdict = probe(); !verdict.usable()) GTEST_SKIP() << verdict.sentence;
    if (std::getenv("PENSTOCK_ONE_KERNEL_AT_A_TIME") != nullptr) {
      GTEST_SKIP() << "The faults that these tests make are what a sanitizer is looking for.";
    }
  }
  template <class Scenario>
  [[noreturn]] static void play(Scenario scenario) {
    // Nothing here may hang; if it does, this says so.
    alarm(60);
    std::_Exit(scenario());
  }
};

}  // namespace penstock::cuda
