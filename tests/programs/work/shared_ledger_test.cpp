// SPDX-License-Identifier: Apache-2.0
#include "programs/work/shared_ledger.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>

#include "engine/core/failure_text.hpp"
#include "penstock/lease/sqlite_ledger.hpp"

namespace penstock::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TextsOfALedger, AreTakenAsTheyWerePut) {
  std::string all;
  for (std::string_view const text : {"a path", "", "12"}) put_text(all, text);
  std::string_view left = all;
  EXPECT_EQ(take_text(left), "a path");
  EXPECT_EQ(take_text(left), "");
  EXPECT_EQ(number_of<std::uint64_t>(take_text(left)), 12U);
  EXPECT_TRUE(left.empty());
  EXPECT_EQ(take_text(left), "") << "there is no other";
}

TEST(APurpose, TellsAllWordsApartHoweverManyThereAre) {
  EXPECT_THAT(purpose_of("penstock hash", " shard 1 of 2 of", " 'a'", "1 path"), HasSubstr(", of shard 1 of 2 of 'a'"));
  EXPECT_EQ(quoted_word("it's"), "'it'\\''s'");
  std::string const many(1000, 'x');
  std::string const one = purpose_of("hash", "", many + "1", "9 paths"),
                    other = purpose_of("hash", "", many + "2", "9 paths");
  EXPECT_THAT(one, HasSubstr(" ... 9 paths, "));
  EXPECT_NE(one, other);
}

TEST(AShortage, IsToldByTheWordsOfTheSystem) {
  EXPECT_TRUE(is_shortage("f: " + system_problem(EMFILE)));
  EXPECT_FALSE(is_shortage("f: " + system_problem(ENOENT)));
}

struct ResultsOfALedger : support::FolderOfFiles {};

TEST_F(ResultsOfALedger, ComeInTheOrderOfTheirLeasesAlsoWhereSomeAreParked) {
  SqliteLedger ledger(path("ledger"));
  ledger.enqueue(std::vector<LeaseWork>(5), true);
  auto const owner = ledger.join();
  std::vector<Settlement> settlements;
  for (Lease const& lease : owner->exchange({}, 5).taken) {
    bool const parks = lease.number == 1 || lease.number == 4;
    settlements.push_back({.kind = parks ? Settlement::Kind::park : Settlement::Kind::acknowledge,
                           .number = lease.number,
                           .tries = lease.tries,
                           .text = "x" + std::to_string(lease.number)});
  }
  owner->exchange(settlements, 0);
  for (std::size_t const page : {1U, 2U, 256U}) {
    std::vector<std::string> all;
    each_result(
        ledger, page, [&](LeaseAnswer const& one) { all.push_back(one.answer); },
        [&](ParkedLease const& one) { all.push_back("parked " + one.reason); });
    EXPECT_THAT(all, ElementsAre("parked x1", "x2", "x3", "parked x4", "x5"));
  }
}

}  // namespace
}  // namespace penstock::cli
