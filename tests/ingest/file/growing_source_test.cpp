// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/compressed.hpp"
#include "support/folder_of_files.hpp"
#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// A file that changes once it is open, read into four tiles of a page. Every test must leave with all tiles home.
struct AFileThatChanges : support::FolderOfFiles {
  static constexpr TileShape shape{.input_bytes = 4096};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 4));
  Pool pool{slab, shape, 4};
  std::string const text = support::some_lines(10000) + "\n";
  std::string problem;
  RecordLoss loss;
  std::vector<std::string> remarks;

  void TearDown() override {
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
    FolderOfFiles::TearDown();
  }
  void write(std::string const& bytes) const {
    std::ofstream(path("file"), std::ios::binary) << bytes;
    std::filesystem::last_write_time(path("file"), {});
  }
  void append(std::string const& bytes) const {
    std::ofstream(path("file"), std::ios::app | std::ios::binary) << bytes;
  }
  /// Returns what is read if `change` happens when the first tile is about to be filled.
  std::string read(
      std::string const& name, FileSourceOptions options, std::function<void()> const& change = [] {}) {
    FileSource source({name}, pool, std::move(options));
    std::string got;
    problem.clear();
    for (bool first = true;; first = false) {
      Loan const loan = pool.borrow();
      if (!source.next(*loan)) break;
      if (first) change();
      try {
        loan->filled = source.fill(*loan);
        got += support::text_of(loan->filled_input());
      } catch (FileProblem const& found) {
        problem = found.what();
      }
    }
    loss = source.loss();
    remarks = source.remarks();
    return got;
  }
};

TEST_F(AFileThatChanges, ByGrowingIsReadUpToTheLastLineThatItHad) {
  write(text + "unfin");
  EXPECT_EQ(read(path("file"), {.framing = lines()}, [&] { append("ished\nmore\n"); }), text);
  EXPECT_EQ(problem, "");
  EXPECT_TRUE(loss.none());
  EXPECT_THAT(remarks, Contains(HasSubstr("grew while it was read")));
  write(text + "unfin");
  EXPECT_EQ(read(path("file"), {.framing = lines()}), text + "unfin") << "a last line may lack its end";
  write(text);
  EXPECT_EQ(read(path("file"), {.framing = lines()}, [&] { append("more\n"); }), text);
  write("unfin");
  EXPECT_EQ(read(path("file"), {.framing = lines()}, [&] { append("ished\n"); }), "");
  EXPECT_EQ(problem, "");
}

/// Its last piece may be read before another. The remark must not say that the record was whole.
TEST_F(AFileThatChanges, ByGrowingBehindItsLastPieceMayHaveCutARecord) {
  write(std::string(5000, 'a') + "\nunfin");
  FileSource source({path("file")}, pool, {.framing = lines(), .long_records = LongRecords::truncate});
  std::vector<Loan> loans;
  for (Loan loan = pool.borrow(); source.next(*loan); loan = pool.borrow()) loans.push_back(std::move(loan));
  ASSERT_GE(loans.size(), 2U);
  loans.back()->filled = source.fill(*loans.back());
  EXPECT_TRUE(support::text_of(loans.back()->filled_input()).ends_with("unfin"));
  append("ished\n");
  loans.pop_back();
  while (!loans.empty()) {
    loans.back()->filled = source.fill(*loans.back());
    loans.pop_back();
  }
  EXPECT_THAT(source.remarks(), Contains(HasSubstr("its last record, which had no end, may have been a part of one")));
}

TEST_F(AFileThatChanges, ByGrowingHasNoRecordThatItEndsWithin) {
  write(std::string(9999, 'x'));
  EXPECT_EQ(read(path("file"), {.framing = equal_records(100)}, [&] { append("x"); }).size(), 9900u);
  EXPECT_EQ(problem, "");
  EXPECT_TRUE(loss.none());
  write(std::string(9999, 'x'));
  EXPECT_EQ(read(path("file"), {.framing = equal_records(100)}).size(), 9900u);
  EXPECT_EQ(loss, (RecordLoss{.unfinished = 1}));
}

TEST_F(AFileThatChanges, ByGrowingFailsIfItsBytesAreCutAnywhere) {
  write(text);
  read(path("file"), {}, [&] { append("more\n"); });
  EXPECT_THAT(problem, HasSubstr("it grew while it was being read"));
}

TEST_F(AFileThatChanges, ByBeingWrittenAnewFailsHoweverLargeItIs) {
  write(text);
  read(path("file"), {.framing = lines()}, [&] { write("other" + text + text); });
  EXPECT_THAT(problem, HasSubstr("it was written anew while it was being read"));
  write(text);
  read(path("file"), {.framing = lines()}, [&] { std::filesystem::resize_file(path("file"), 5000); });
  EXPECT_THAT(problem, HasSubstr("it shrank"));
}

/// Its Error is no problem of the file, and it is told once that the file ended.
TEST_F(AFileThatChanges, OrNotEndsTheInputWhereItsObserverThrowsAnError) {
  struct Thrower : FileObserver {
    int ended_calls = 0, failed_calls = 0;
    void opened(std::uint64_t, InputFile const&) override {}
    void failed(std::uint64_t, FileProblem const&) override { ++failed_calls; }
    void ended(std::uint64_t, std::uint64_t) override {
      if (++ended_calls == 1) throw Error(ErrorKind::system, "There is no place to note an end.");
    }
    void abandoned(std::uint64_t, std::uint64_t) override {}
  } thrower;
  write("text\n");
  FileSource source({path("file")}, pool, {.observer = &thrower});
  Loan const loan = pool.borrow();
  EXPECT_THROW(static_cast<void>(source.next(*loan)), Error);
  EXPECT_EQ(thrower.ended_calls, 1);
  EXPECT_EQ(thrower.failed_calls, 0);
}

TEST_F(AFileThatChanges, ByGettingAnotherMemberIsDecodedAsItWas) {
  if (!support::can_compress(Compression::gzip)) GTEST_SKIP() << "no zlib";
  for (auto const& member : {support::gzip_member(text), support::bgzf_member(text)}) {
    write(member);
    FileSourceOptions const options{.framing = lines(), .decompress = true};
    EXPECT_EQ(read(path("file"), options, [&] { append(member); }), text);
    EXPECT_EQ(problem, "");
  }
}

TEST_F(AFileThatChanges, OrIsOfTheSystemIsReadAsItIs) {
  for (std::string const name : {"/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/uevent_seqnum",
                                 "/proc/version", "/proc/self/limits"}) {
    if (!std::filesystem::exists(name)) continue;
    std::ifstream file(name);
    std::string const wanted{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(read(name, {.framing = lines()}), wanted) << name;
    EXPECT_EQ(problem, "") << name;
    EXPECT_EQ(read(name, {.framing = lines(), .decompress = true, .text = true}), wanted) << name;
    EXPECT_EQ(read(name, {}), wanted) << name;
  }
}

}  // namespace
}  // namespace penstock
