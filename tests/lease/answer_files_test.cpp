// SPDX-License-Identifier: Apache-2.0
#include "penstock/lease/answer_files.hpp"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "lease/a_pipeline_on_leases.hpp"
#include "lease/worker_page.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/descriptor.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using support::APipelineOnLeases;
using testing::HasSubstr;
using testing::SizeIs;

std::string content_of(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A pipeline whose leases are answered by files.
struct AFolderOfAnswers : APipelineOnLeases, LeaseSink {
  std::optional<AnswerFiles> files;

  std::string answers() const { return path("answers"); }
  void take(Completion& completion, LeasePart const& part) override { collector.take(completion, part); }
  std::optional<std::string> answer(Lease const& lease) override {
    files->put(*source, lease, *collector.answer(lease));
    return std::nullopt;
  }
  void forget(Lease const& lease) noexcept override { collector.forget(lease); }

  void TearDown() override {
    files.reset();
    APipelineOnLeases::TearDown();
  }
  void open_files(AnswerFilesOptions options = {}) {
    options.stop = stop.get_token();
    files.emplace(answers(), std::move(options));
    source.emplace(ledger, pipeline.pool(), *this,
                   LeaseSourceOptions{.stop = stop.get_token(), .poll = std::chrono::milliseconds(1)});
  }
  void finish() {
    files->drain();
    source->finish();
  }
  std::size_t files_there() const {
    std::filesystem::directory_iterator const all(answers());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  void expect_a_file_each(std::size_t count) const {
    auto const acknowledged = ledger.answers();
    ASSERT_THAT(acknowledged, SizeIs(count));
    for (LeaseAnswer const& one : acknowledged) {
      EXPECT_EQ(answers() + "/" + one.answer, files->path_of(one.number));
      EXPECT_EQ(content_of(files->path_of(one.number)), collector.bytes.at(one.number));
    }
    EXPECT_EQ(files_there(), count) << "nothing else is left";
  }
};

/// Messages of the library while it is there. The first opens what waits for it.
class MessagesHeard {
 public:
  MessagesHeard() { before_ = set_message_hook(hear), count_ = 0; }
  MessagesHeard(MessagesHeard const&) = delete;
  MessagesHeard& operator=(MessagesHeard const&) = delete;
  ~MessagesHeard() { set_message_hook(before_); }
  static void await_one() { count_.wait(0); }
  static int count() { return count_; }

 private:
  static void hear(std::string_view) noexcept {
    ++count_;
    count_.notify_all();
  }
  static inline std::atomic<int> count_{0};
  MessageHook before_ = nullptr;
};

TEST_F(AFolderOfAnswers, HasAFileForEachLease) {
  enqueue(100);
  open_files({.suffix = ".bin"});
  EXPECT_TRUE(run().ok());
  finish();
  EXPECT_TRUE(ledger.progress().finished());
  expect_a_file_each(100);
  EXPECT_EQ(std::filesystem::path(files->path_of(7)).filename(), "0000000007.bin");
}

TEST_F(AFolderOfAnswers, LetsPutWaitWhereMuchWaitsForTheDisk) {
  enqueue(30);
  open_files({.most_waiting = 1});
  EXPECT_TRUE(run().ok());
  finish();
  expect_a_file_each(30);
}

/// Seen to fail where a lease was acknowledged before its file had its name.
TEST_F(AFolderOfAnswers, WaitsWhereItCannotWriteAndGoesOnOnceItCan) {
  enqueue(20);
  open_files();
  std::filesystem::rename(answers(), path("away"));
  MessagesHeard const messages;
  std::jthread runs([&] { EXPECT_TRUE(run().ok()); });
  MessagesHeard::await_one();
  EXPECT_EQ(ledger.progress().done, 0U);
  std::filesystem::rename(path("away"), answers());
  runs.join();
  finish();
  expect_a_file_each(20);
  EXPECT_EQ(MessagesHeard::count(), 1) << "it is said once";
}

/// The files alone say so here, and not the source. Seen to fail where they had no report.
TEST_F(AFolderOfAnswers, SayThatTheWorkerWaitsWhileTheDiskTakesNothing) {
  Descriptor const memory(make_worker_page());
  WorkerPage* const page = map_worker_page(memory.number);
  enqueue(20);
  open_files();
  setenv(worker_page_variable, std::to_string(memory.number).c_str(), 1);
  files.emplace(answers(), AnswerFilesOptions{.stop = stop.get_token()});
  unsetenv(worker_page_variable);
  std::filesystem::rename(answers(), path("away"));
  MessagesHeard const messages;
  std::jthread runs([&] { EXPECT_TRUE(run().ok()); });
  MessagesHeard::await_one();
  EXPECT_EQ(page->asking, 1U);
  std::filesystem::rename(path("away"), answers());
  runs.join();
  finish();
  EXPECT_EQ(page->asking, 0U);
  files.reset();
  unmap_worker_page(page);
}

/// Seen to fail where what could not be written was a failed try.
TEST_F(AFolderOfAnswers, GivesBackWhatItCannotWriteUntilAStop) {
  enqueue(20);
  open_files();
  std::filesystem::remove(answers());
  MessagesHeard const messages;
  std::jthread runs([&] { run().unread.mark_read(); });
  MessagesHeard::await_one();
  stop.request_stop();
  runs.join();
  finish();
  EXPECT_EQ(ledger.progress().ready, 20U);
  auto const owner = ledger.join();
  auto const taken = owner->exchange({}, 20).taken;
  EXPECT_THAT(taken, SizeIs(20)) << "none rests";
  for (Lease const& lease : taken) EXPECT_EQ(lease.charged, 1U);
}

TEST_F(AFolderOfAnswers, RemovesWhatATryBeforeLeftThere) {
  enqueue(1);
  auto owner = ledger.join();
  owner->exchange({}, 1);
  owner.reset();
  open_files();
  std::ofstream(files->path_of(1) + ".part-1") << "half of";
  EXPECT_TRUE(run().ok());
  finish();
  expect_a_file_each(1);
}

TEST_F(AFolderOfAnswers, IsRefusedWhereNoFileCanBeMade) {
  std::ofstream(path("file")) << "no folder";
  for (std::string const& name : {path("file"), path("not/there")}) {
    try {
      AnswerFiles const none(name);
      FAIL();
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      EXPECT_THAT(error.what(), HasSubstr(name + " takes no files: "));
      EXPECT_THAT(error.what(), HasSubstr("Name a folder"));
    }
  }
}

}  // namespace
}  // namespace penstock
