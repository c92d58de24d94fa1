// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watch/expectation.hpp"

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

nlohmann::ordered_json const process{{"overlap", 0.6},
                                     {"duplex", nullptr},
                                     {"hazards", {{"count", 2}}},
                                     {"faults", {{{"fault", "pageable"}, {"count", 3}}}}};

TEST(Expectation, HoldsOrIsBroken) {
  EXPECT_EQ(Expectation("overlap > 0.5").broken_by(process), "");
  EXPECT_EQ(Expectation("overlap>=.6").broken_by(process), "");
  EXPECT_EQ(Expectation(" overlap <= 0.6 ").broken_by(process), "");
  EXPECT_EQ(Expectation("overlap > 0.6").broken_by(process), "--expect 'overlap > 0.6' does not hold: it is 0.6.");
  EXPECT_EQ(Expectation("hazards < 3").broken_by(process), "");
  EXPECT_NE(Expectation("hazards <= 0").broken_by(process), "");
  EXPECT_NE(Expectation("pageable <= 0").broken_by(process), "");
  EXPECT_EQ(Expectation("legacy <= 0").broken_by(process), "");
}

TEST(Expectation, CountsFaultsThatCostTooLittleToBeListed) {
  nlohmann::ordered_json const cheap{{"faults", nlohmann::ordered_json::array()},
                                     {"fault_counts", {{"pageable", 3}, {"legacy", 0}}}};
  EXPECT_EQ(Expectation("pageable <= 0").broken_by(cheap), "--expect 'pageable <= 0' does not hold: it is 3.");
  EXPECT_EQ(Expectation("legacy <= 0").broken_by(cheap), "");
}

TEST(Expectation, OfAFigureThatIsNotThereIsBroken) {
  EXPECT_NE(Expectation("duplex < 2").broken_by(process), "");
}

TEST(Expectation, ThatIsNoneIsRefused) {
  for (char const* const text :
       {"", "overlap", "overlap = 1", "overlap >", "overlap > x", "speed > 1", "> 1", "overlap > 1 2", "overlap > nan"})
    EXPECT_THROW(Expectation{text}, Error) << text;
}

}  // namespace
}  // namespace penstock::cli
