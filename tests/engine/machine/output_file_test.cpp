// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/output_file.hpp"

#include <csignal>
#include <fstream>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;

/// A folder in which files are written. Every test must leave with no file that has a name of the writer's own.
struct AnOutputFile : support::FolderOfFiles {
  void TearDown() override {
    for (auto const& entry : fs::directory_iterator(folder)) {
      EXPECT_EQ(entry.path().filename().string().find(".penstock-"), std::string::npos) << entry.path();
    }
    support::FolderOfFiles::TearDown();
  }
  void hold(std::string const& name, std::string const& content) const { std::ofstream(path(name)) << content; }
  std::string content(std::string const& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }
  static void save(std::string const& where, std::string const& text) {
    OutputFile(where).write("the text", [&](std::ostream& out) { out << text; });
  }
  /// Returns the error with which it is refused before anything is written; empty if it is not.
  static std::string refusal(std::string const& where) {
    try {
      OutputFile const file(where);
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      return error.what();
    }
    return "";
  }
  struct stat status(std::string const& name) const {
    struct stat of {};
    EXPECT_EQ(stat(path(name).c_str(), &of), 0) << name;
    return of;
  }
};

TEST_F(AnOutputFile, HoldsWhatIsWritten) {
  std::string const large(300'000, 'x');
  save(path("new"), large);
  EXPECT_EQ(content("new"), large);
  save(path("new"), "short");
  EXPECT_EQ(content("new"), "short");
}

TEST_F(AnOutputFile, IsNotThereBeforeAllIsWritten) {
  hold("old", "old");
  for (std::string const name : {"old", "new"}) {
    std::string const before = content(name);
    OutputFile(path(name)).write("the text", [&](std::ostream& out) {
      out << std::string(200'000, 'x') << std::flush;
      EXPECT_TRUE(content(name) == before) << name;
    });
    EXPECT_EQ(content(name).size(), 200'000U) << name;
  }
}

TEST_F(AnOutputFile, IsAsItWasIfTheWriterFails) {
  hold("old", "old");
  OutputFile file(path("old"));
  auto const fails = [](std::ostream& out) {
    out << std::string(200'000, 'x');
    throw std::runtime_error("it fails");
  };
  EXPECT_THROW(file.write("the text", fails), std::runtime_error);
  EXPECT_EQ(content("old"), "old");
}

TEST_F(AnOutputFile, IsAsItWasIfTheDiskTakesNoMore) {
  hold("old", "old");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit const little{.rlim_cur = 100'000, .rlim_max = before.rlim_max};
  auto* const handler = signal(SIGXFSZ, SIG_IGN);
  OutputFile file(path("old"));
  setrlimit(RLIMIT_FSIZE, &little);
  std::string said;
  try {
    file.write("the text", [](std::ostream& out) { out << std::string(300'000, 'x'); });
  } catch (Error const& error) {
    said = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(said, path("old") +
                      " took less than all of the text (File too large), and is as it was: let files be larger (ulimit "
                      "-f), or name another file.");
  EXPECT_EQ(content("old"), "old");
}

TEST_F(AnOutputFile, KeepsTheModeOfTheOldOneAndHasTheUsualOneIfItIsNew) {
  hold("secret", "old");
  fs::permissions(path("secret"), fs::perms::owner_read | fs::perms::owner_write);
  hold("open", "old");
  fs::permissions(path("open"), fs::perms(0664));
  mode_t const mask = umask(022);
  for (std::string const name : {"secret", "open", "new"}) save(path(name), "text");
  umask(mask);
  EXPECT_EQ(status("secret").st_mode & 07777, 0600U);
  EXPECT_EQ(status("open").st_mode & 07777, 0664U);
  EXPECT_EQ(status("new").st_mode & 07777, 0644U);
}

TEST_F(AnOutputFile, KeepsTheOwnerOfTheOldOne) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  hold("theirs", "old");
  ASSERT_EQ(chown(path("theirs").c_str(), 4711, 4712), 0);
  ASSERT_EQ(chmod(path("theirs").c_str(), 0640), 0);
  save(path("theirs"), "text");
  EXPECT_EQ(status("theirs").st_uid, 4711U);
  EXPECT_EQ(status("theirs").st_gid, 4712U);
  EXPECT_EQ(status("theirs").st_mode & 07777, 0640U);
}

TEST_F(AnOutputFile, IsWhatALinkLeadsTo) {
  fs::create_directory(path("far"));
  hold("far/there", "old");
  fs::create_symlink("far/there", path("link"));
  fs::create_symlink("far/not_yet", path("early"));
  fs::create_symlink("link", path("link_to_link"));
  for (std::string const name : {"link", "early", "link_to_link"}) {
    save(path(name), name);
    EXPECT_TRUE(fs::is_symlink(path(name)));
    EXPECT_EQ(content(name), name);
  }
  EXPECT_EQ(content("far/there"), "link_to_link");
  EXPECT_EQ(content("far/not_yet"), "early");
}

/// A new file once had a name with `.part` while it was written.
TEST_F(AnOutputFile, TouchesNoOtherFileAndFollowsNoLinkBeside) {
  hold("victim", "victim");
  fs::create_symlink("victim", path("new.part"));
  hold("old.part", "input");
  save(path("new"), "text");
  save(path("old"), "text");
  EXPECT_EQ(content("victim"), "victim");
  EXPECT_EQ(content("old.part"), "input");
}

TEST_F(AnOutputFile, LeavesOtherNamesOfTheOldOneWithWhatItHeld) {
  hold("one", "old");
  fs::create_hard_link(path("one"), path("other"));
  save(path("one"), "text");
  EXPECT_EQ(content("other"), "old");
}

TEST_F(AnOutputFile, ThatIsAPipeIsOpenedOnceAndWrittenAsItIs) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::string const text(300'000, 'x');
  std::string read;
  std::jthread reader([&] {
    std::ostringstream all;
    all << std::ifstream(path("pipe")).rdbuf();
    read = all.str();
  });
  save(path("pipe"), text);
  reader.join();
  EXPECT_EQ(read, text);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(AnOutputFile, ThatIsAPipeWithoutReaderIsWaitedForUntilAStop) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::stop_source stop;
  std::jthread const waiter([&] { EXPECT_THROW(OutputFile(path("pipe"), stop.get_token()), Error); });
  stop.request_stop();
}

TEST_F(AnOutputFile, ThatIsAFullPipeIsGivenUpOnceAStopIsRequested) {
  support::PipeWriter const nobody_reads(path("pipe"));
  std::stop_source stop;
  OutputFile file(path("pipe"), stop.get_token());
  stop.request_stop();
  EXPECT_THROW(file.write("the text", [](std::ostream& out) { out << std::string(1'000'000, 'x'); }), Error);
}

TEST_F(AnOutputFile, ThatIsADescriptorIsWrittenWhereItStands) {
  std::string const named = path("named");
  int const descriptor = open(named.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::write(descriptor, "begin ", 6), 6);
  save("/dev/fd/" + std::to_string(descriptor), "middle ");
  ASSERT_EQ(::write(descriptor, "end", 3), 3);
  close(descriptor);
  EXPECT_EQ(content("named"), "begin middle end");
}

TEST_F(AnOutputFile, ThatTakesNothingIsAnErrorOfTheSystem) {
  try {
    save("/dev/full", "text");
    ADD_FAILURE() << "it took it";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::system);
    EXPECT_NE(std::string(error.what()).find("/dev/full took less than all of the text"), std::string::npos);
  }
}

TEST_F(AnOutputFile, IsRefusedBeforeAnythingIsWrittenIfItCannotBe) {
  EXPECT_EQ(refusal(""), "'': It names no file. Name a file that can be written.");
  EXPECT_EQ(refusal(folder), folder + ": It is a directory. Name a file that can be written.");
  EXPECT_EQ(refusal(path("no/file")),
            path("no/file") + ": No such file or directory. Name a file that can be written.");
  hold("file", "");
  EXPECT_NE(refusal(path("file/file")), "");
  fs::create_symlink("round", path("round"));
  EXPECT_NE(refusal(path("round")), "");
  int const maker = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(maker, reinterpret_cast<sockaddr const*>(&address), sizeof address), 0);
  close(maker);
  EXPECT_EQ(refusal(path("socket")), path("socket") + ": It is a socket. Name a file that can be written.");
  int const input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_NE(refusal("/dev/fd/" + std::to_string(input)), "");
  close(input);
}

TEST_F(AnOutputFile, SaysThatNoMoreFilesCanBeOpenedAndNotThatItsNameIsWrong) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer opens a pipe to look at an object's type, and without descriptors takes it for none";
#endif
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  rlimit none = old;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  std::optional<Error> refusal;
  try {
    OutputFile const file(path("new"));
  } catch (Error const& error) {
    refusal = error;
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->kind(), ErrorKind::system);
  EXPECT_THAT(refusal->what(), testing::HasSubstr("ulimit -n"));
}

TEST_F(AnOutputFile, LeavesNoDescriptorOpen) {
  hold("old", "old");
  std::size_t const before = support::open_descriptors();
  save(path("old"), "text");
  save("/dev/null", "text");
  refusal(path("no/file"));
  refusal("/dev/fd/" + std::to_string(1000));
  EXPECT_EQ(support::open_descriptors(), before);
}

TEST_F(AnOutputFile, IsOneWithAnotherByWhatItIsAndNotByItsName) {
  hold("old", "old");
  fs::create_hard_link(path("old"), path("too"));
  OutputFile const old(path("old"));
  EXPECT_TRUE(old.is(path("too")));
  EXPECT_TRUE(old.is(OutputFile(folder + "/./too")));
  EXPECT_FALSE(old.is(path("new")));
  EXPECT_FALSE(old.is(OutputFile(path("new"))));
  fs::create_symlink("new", path("early"));
  EXPECT_TRUE(OutputFile(path("new")).is(OutputFile(path("early"))));
  EXPECT_FALSE(OutputFile(path("new")).is(OutputFile(path("newer"))));
  EXPECT_TRUE(old.held_something());
  EXPECT_FALSE(OutputFile(path("new")).held_something());
}

TEST_F(AnOutputFile, DoesNotReplaceWhatIsNoFileAnyMore) {
  OutputFile file(path("name"));
  fs::create_symlink("elsewhere", path("name"));
  EXPECT_THROW(file.write("the text", [](std::ostream& out) { out << "text"; }), Error);
  EXPECT_TRUE(fs::is_symlink(path("name")));
}

}  // namespace
}  // namespace penstock
