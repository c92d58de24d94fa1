// SPDX-License-Identifier: Apache-2.0
// What `start`, `feed`, `drain` and `stop` promise.
#include <algorithm>
#include <thread>

#include "flow/pipeline_contract.hpp"

namespace penstock {
namespace {

void push(Feed& feed, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    Loan loan = feed.borrow();
    loan->tag = i;
    loan->filled = 1;
    loan->input()[0] = static_cast<std::byte>(i);
    feed.submit(std::move(loan));
  }
}

TEST_P(PipelineContract, CompletesWhatManyThreadsOfTheApplicationSubmit) {
  open();
  std::atomic<std::uint64_t> right{0};
  pipeline().start(add_one(), [&](Completion& completion) {
    if (completion.ok() && completion.loan->output()[0] == static_cast<std::byte>(completion.loan->tag + 1))
      right.fetch_add(1);
  });
  {
    std::vector<std::jthread> application;
    for (int t = 0; t < 4; ++t) {
      application.emplace_back([&] {
        Feed feed = pipeline().feed();
        push(feed, 200);
      });
    }
  }
  Report const report = pipeline().drain();
  EXPECT_EQ(right, 800u);
  EXPECT_EQ(report.tiles_done, 800u);
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST_P(PipelineContract, KeepsTheOrderOfSubmission) {
  auto options = usual();
  options.ordered = true;
  open(options);
  pipeline().start(add_one(), note());
  Feed feed = pipeline().feed();
  push(feed, 300);
  pipeline().drain();
  auto const all = sunk();
  ASSERT_EQ(all.size(), 300u);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &Sunk::sequence));
}

TEST_P(PipelineContract, CompletesBeforeAnybodyDrains) {
  open();
  pipeline().start(add_one(), note());
  Feed feed = pipeline().feed();
  push(feed, 100);  // Through eight tiles: they come home although nobody waits in drain.
  pipeline().drain();
  expect_each_once(100);
}

TEST_P(PipelineContract, DrainsNothing) {
  open();
  pipeline().start(add_one(), note());
  EXPECT_TRUE(pipeline().drain().ok());
}

TEST_P(PipelineContract, RefusesTilesOnceDrained) {
  open();
  pipeline().start(add_one(), note());
  Feed feed = pipeline().feed();
  Loan kept = feed.borrow();
  pipeline().drain();
  EXPECT_THROW(feed.submit(std::move(kept)), Error);
  EXPECT_THROW(feed.borrow(), Error);
  EXPECT_FALSE(feed.try_borrow());
}

TEST_P(PipelineContract, CancelsWhatIsSubmittedAfterAStop) {
  open();
  pipeline().start(add_one(), note());
  Feed feed = pipeline().feed();
  Loan kept = feed.borrow();
  pipeline().stop();
  EXPECT_FALSE(feed.borrow(std::stop_token{}));
  feed.submit(std::move(kept));
  Report const report = pipeline().drain();
  EXPECT_EQ(report.tiles_cancelled, 1u);
  EXPECT_TRUE(report.stopped);
  ASSERT_EQ(sunk().size(), 1u);
  EXPECT_EQ(sunk()[0].outcome, Outcome::cancelled);
}

TEST_P(PipelineContract, WakesWhoWaitsForATileWhenItIsStopped) {
  open();
  pipeline().start(add_one(), note());
  Feed feed = pipeline().feed();
  std::vector<Loan> all;
  while (auto loan = feed.try_borrow()) all.push_back(std::move(*loan));
  std::jthread waiting([&] { EXPECT_THROW(feed.borrow(), Error); });
  while (pipeline().pool().waiting() == 0) std::this_thread::yield();
  pipeline().stop();
  waiting.join();
  all.clear();
  pipeline().drain();
}

TEST_P(PipelineContract, DrainsItselfWhenItDies) {
  Pipeline pipe(device(), usual());
  pipe.start(add_one(), note());
  Feed feed = pipe.feed();
  push(feed, 5);
}

}  // namespace
}  // namespace penstock
