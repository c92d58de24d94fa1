// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/name_history.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace penstock {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = NameEvent::Kind;

/// History of the files that have had the name `log`, as events tell it.
struct ANameInAFolder : testing::Test {
  NameHistory history{"log"};
  std::uint32_t moves = 0;

  void create(std::string const& name) { history.note({Kind::appeared, name}); }
  void remove(std::string const& name) { history.note({Kind::vanished, name}); }
  void rename(std::string const& from, std::string const& to) {
    history.note({Kind::left, from, ++moves});
    history.note({Kind::appeared, to, moves});
  }
  void open_all() {
    for (auto& file : history.files()) file.opened = true;
  }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (auto const& file : history.files()) all.push_back(file.name);
    return all;
  }
};

TEST_F(ANameInAFolder, LeadsToAllFilesThatHadIt) {
  create("log");
  create("other");
  rename("log", "log.1");
  create("log");
  rename("log.1", "log.2");
  rename("log", "log.1");
  EXPECT_THAT(names(), ElementsAre("log.2", "log.1"));
  create("log");
  remove("other");
  EXPECT_THAT(names(), ElementsAre("log.2", "log.1", "log"));
  EXPECT_EQ(history.drop_lost(), 0u);
}

TEST_F(ANameInAFolder, TellsWhichFilesCannotBeFound) {
  create("log");
  rename("log", "old");
  create("log");
  rename("log", "old");
  EXPECT_THAT(names(), ElementsAre("", "old")) << "a file takes the name of another";
  EXPECT_EQ(history.drop_lost(), 1u);
  history.note({Kind::left, "old", 77});
  EXPECT_EQ(history.drop_lost(), 1u) << "it went to another folder";
  create("log");
  open_all();
  remove("log");
  EXPECT_EQ(history.drop_lost(), 0u) << "one that is open can be read";
}

TEST_F(ANameInAFolder, MayComeBackToAFile) {
  create("log");
  open_all();
  rename("log", "log.1");
  rename("log.1", "log");
  EXPECT_THAT(names(), ElementsAre("log"));
  create("new");
  rename("new", "log");
  EXPECT_THAT(names(), ElementsAre("", "log"));
}

TEST_F(ANameInAFolder, MayWaitForItsFirstFile) {
  EXPECT_EQ(history.begin_anew(), 0u);
  EXPECT_THAT(names(), ElementsAre("log"));
  history.files().back().missing = true;
  create("log");
  EXPECT_THAT(names(), ElementsAre("log"));
  EXPECT_FALSE(history.files().back().missing);
}

TEST_F(ANameInAFolder, IsNotKnownWhereEventsWereMissed) {
  create("log");
  open_all();
  rename("log", "log.1");
  create("log");
  EXPECT_EQ(history.begin_anew(), 1u);
  EXPECT_THAT(names(), ElementsAre("", "log"));
  open_all();
  EXPECT_EQ(history.begin_anew(), 0u);
  history.files().back().missing = true;
  EXPECT_EQ(history.begin_anew(), 0u);
  EXPECT_THAT(names(), ElementsAre("", "", "log"));
}

/// The system gives a file its name first, and reports that afterwards.
TEST_F(ANameInAFolder, MayBeSeenBeforeItsEventComes) {
  create("log");
  open_all();
  rename("log", "log.1");
  history.assume();
  EXPECT_THAT(names(), ElementsAre("log.1", "log"));
  create("log");
  EXPECT_THAT(names(), ElementsAre("log.1", "log")) << "one file was taken for two";
  rename("log", "log.2");
  create("log");
  EXPECT_THAT(names(), ElementsAre("log.1", "log.2", "log"));
  EXPECT_EQ(history.drop_lost(), 0u);
}

TEST_F(ANameInAFolder, MayBeSeenAgainBeforeTheEventOfItsReturnComes) {
  create("log");
  open_all();
  history.note({Kind::left, "log", 5});
  history.assume();
  history.note({Kind::appeared, "log", 5});
  EXPECT_THAT(names(), ElementsAre("log"));
  EXPECT_EQ(history.drop_lost(), 0u);
}

TEST_F(ANameInAFolder, MayBeOpenedBeforeItsEventComes) {
  create("log");
  rename("log", "log.1");
  history.assume();
  open_all();
  create("log");
  EXPECT_THAT(names(), ElementsAre("log.1", "", "log")) << "only the reader that opens it sees whether it is the same";
  EXPECT_EQ(history.drop_lost(), 0u);
}

TEST_F(ANameInAFolder, IsOfNoInterestToFilesThatNeverHadIt) {
  EXPECT_FALSE(history.note({Kind::appeared, "a"}));
  EXPECT_FALSE(history.note({Kind::left, "a", 5}));
  EXPECT_FALSE(history.note({Kind::appeared, "b", 5}));
  EXPECT_THAT(history.files(), IsEmpty());
  EXPECT_TRUE(history.note({Kind::vanished, "log"}));
}

}  // namespace
}  // namespace penstock
