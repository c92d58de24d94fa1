// SPDX-License-Identifier: Apache-2.0
// All devices that a process opens are models, or none is. Each test has a process of its own, since the clock of a
// process cannot be given back.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/clock.hpp"
#include "penstock/device.hpp"
#include "penstock/models/devices.hpp"

namespace penstock {
namespace {

/// Returns why a device or a list of them is refused; "opened", if it is not.
std::string opening(std::string const& wishes) {
  try {
    if (wishes.find(',') == std::string::npos) {
      open_device(wishes);
    } else {
      open_devices(wishes);
    }
    return "opened";
  } catch (Error const& error) {
    return error.what();
  }
}

/// Opens one after the other in a new process, which says what became of the last, and how slow its clock is.
template <class Matcher>
void expect_last(std::initializer_list<char const*> all, unsigned slower, Matcher const& last) {
  auto const open_them = [&] {
    std::string became;
    for (char const* const wishes : all) became = opening(wishes);
    std::fprintf(stderr, "%u: %s", Clock::slower(), became.c_str());
    std::exit(0);
  };
  EXPECT_EXIT(open_them(), testing::ExitedWithCode(0),
              testing::AllOf(testing::StartsWith(std::to_string(slower) + ": "), last));
}

TEST(OneClock, HasNoModelBehindARealDevice) {
  expect_last({"cpu", "model:h200"}, 1, testing::HasSubstr("a real device was opened before"));
  expect_last({"cpu,cpu", "model:h200,model:h100"}, 1, testing::HasSubstr("a real device was opened before"));
}

TEST(OneClock, HasNoRealDeviceBehindAModel) {
  for (char const* const real : {"cpu", "cpu:0", "cpu,cpu"}) {
    expect_last({"model:h200", real}, 20, testing::HasSubstr("name models only"));
  }
}

TEST(OneClock, IsThatOfTheModels) {
  expect_last({"model:h200@30", "model:h200@30,model:h100@30"}, 30, testing::HasSubstr("opened"));
  expect_last({"model:h200@30", "model:h200@40"}, 30, testing::HasSubstr("30 times slower"));
}

TEST(OneClock, StaysIfAModelIsRefused) {
  expect_last({"model:h200,model:none_of_this_name"}, 1, testing::HasSubstr("none_of_this_name"));
  expect_last({"model:h200@30,model:h200@40"}, 1, testing::HasSubstr("same factor"));
  expect_last({"model:h200,model:none_of_this_name", "cpu"}, 1, testing::HasSubstr("opened"));
}

TEST(OneClock, ComesBehindNamesOfNoDevice) {
  expect_last({"model:h200,bogus"}, 1, testing::HasSubstr("'bogus' is not a device"));
  expect_last({"bogus,model:h200"}, 1, testing::HasSubstr("'bogus' is not a device"));
}

}  // namespace
}  // namespace penstock
