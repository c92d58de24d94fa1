// SPDX-License-Identifier: Apache-2.0
#include "models/host_account.hpp"

#include <gtest/gtest.h>

namespace penstock::cpu {
namespace {

constexpr HostAccount::Time ms = 1'000'000, factor = 20;

TEST(HostAccount, OwesForWorkUntilItHasTakenAsLongOnTheSlowerClock) {
  HostAccount account;
  account.work(ms, 0, factor);
  EXPECT_EQ(account.rest(), 19 * ms) << "besides the 1 ms that it took";
  account.rested(19 * ms);
  EXPECT_EQ(account.rest(), 0);
}

TEST(HostAccount, OwesTheCostOfACall) {
  HostAccount account;
  account.call(3 * ms);
  EXPECT_EQ(account.rest(), 3 * ms);
}

TEST(HostAccount, DoesNotSleepForLittle) {
  HostAccount account;
  account.call(HostAccount::least_sleep - 1);
  EXPECT_EQ(account.rest(), 0);
  account.call(1);
  EXPECT_EQ(account.rest(), HostAccount::least_sleep);
}

TEST(HostAccount, SavesALittleOfASleepThatWasTooLong) {
  HostAccount account;
  account.call(ms);
  account.rested(ms + 100'000);
  account.call(ms);
  EXPECT_EQ(account.rest(), ms - 100'000);
  EXPECT_EQ(account.take_due_and_lost(), std::pair(2 * ms, HostAccount::Time{0}));
}

TEST(HostAccount, CountsAsLostWhatItDoesNotSave) {
  HostAccount account;
  account.call(ms);
  account.rested(4 * ms);
  account.call(ms);
  EXPECT_EQ(account.rest(), ms - HostAccount::most_saved);
  EXPECT_EQ(account.take_due_and_lost(), std::pair(2 * ms, 3 * ms - HostAccount::most_saved));
  EXPECT_EQ(account.take_due_and_lost(), std::pair(HostAccount::Time{0}, HostAccount::Time{0}));
}

TEST(HostAccount, SavesMoreOfASlowerClock) {
  for (HostAccount::Time const slower : {1, 20, 100}) {
    HostAccount account;
    account.work(0, 0, slower);
    account.call(ms);
    account.rested(11 * ms);
    account.woke_late(3 * ms);
    HostAccount::Time const saved = slower == 100 ? 2'500'000 : HostAccount::most_saved;
    EXPECT_EQ(account.take_due_and_lost().second, 13 * ms - 2 * saved) << slower;
  }
}

TEST(HostAccount, CountsAWaitForACpuTowardsWhatItOwes) {
  HostAccount account;
  account.work(ms, 5 * ms, factor);
  EXPECT_EQ(account.rest(), 14 * ms);
  EXPECT_EQ(account.take_due_and_lost(), std::pair(20 * ms, HostAccount::Time{0}));
}

TEST(HostAccount, CountsAsLostThatItWaitedForACpuLongerThanItOwes) {
  HostAccount account;
  account.work(ms, 21 * ms, factor);
  EXPECT_EQ(account.rest(), 0);
  EXPECT_EQ(account.take_due_and_lost(), std::pair(20 * ms, 2 * ms - HostAccount::most_saved));
}

TEST(HostAccount, TakesNoNoticeOfWaitsThatEveryMachineHas) {
  HostAccount account;
  account.work(ms, HostAccount::least_wait - 1, factor);
  EXPECT_EQ(account.rest(), 19 * ms);
}

TEST(HostAccount, CountsAsLostThatItWokeLate) {
  HostAccount account;
  account.woke_late(HostAccount::most_saved);
  EXPECT_EQ(account.take_due_and_lost().second, 0);
  account.woke_late(HostAccount::most_saved + ms);
  EXPECT_EQ(account.take_due_and_lost().second, ms);
}

}  // namespace
}  // namespace penstock::cpu
