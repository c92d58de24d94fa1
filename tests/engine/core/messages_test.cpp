// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/core/say.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using testing::ElementsAre;

std::vector<std::string>& said() {
  static std::vector<std::string> all;
  return all;
}
void keep(std::string_view sentence) noexcept {
  said().emplace_back(sentence);
}

/// Messages go to a list. Each test leaves the hook that it found.
struct Messages : testing::Test {
  MessageHook const before = set_message_hook(keep);
  Messages() { said().clear(); }
  ~Messages() override { EXPECT_EQ(set_message_hook(before), keep); }
};

TEST_F(Messages, GoToStandardErrorUnlessAHookIsSet) {
  EXPECT_EQ(before, &write_to_standard_error);
  testing::internal::CaptureStderr();
  write_to_standard_error("This went wrong.");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "penstock: This went wrong.\n");
}

TEST_F(Messages, GoToTheHookAndNotToStandardError) {
  testing::internal::CaptureStderr();
  say("%d of %d tiles.", 1, 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(said(), ElementsAre("1 of 2 tiles."));
}

TEST_F(Messages, AreDroppedIfThereIsNoHook) {
  set_message_hook(nullptr);
  testing::internal::CaptureStderr();
  say("This went wrong.");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(set_message_hook(keep), nullptr);
  EXPECT_TRUE(said().empty());
}

TEST_F(Messages, AreCutWhereTheyAreLong) {
  say("%s", std::string(5000, 'x').c_str());
  EXPECT_THAT(said(), ElementsAre(std::string(1000, 'x')));
}

TEST_F(Messages, SayThatAPoolDiedBeforeItsLoans) {
  alignas(Pool::alignment) std::array<std::byte, 256> slab{};
  alignas(Loan) std::array<std::byte, sizeof(Loan)> kept;  // It is never destroyed.
  {
    Pool pool(slab, {.input_bytes = 8}, 1);
    new (kept.data()) Loan(pool.borrow());
  }
  EXPECT_THAT(said(), ElementsAre("a Pool died with 1 of 1 tiles on loan; let every Loan die first."));
}

}  // namespace
}  // namespace penstock
