// SPDX-License-Identifier: Apache-2.0
// Promises of `start`, `feed`, `drain` and `stop`.
#include <algorithm>
#include <array>
#include <thread>

#include "engine/core/pool.hpp"
#include "engine/flow/pipeline_contract.hpp"

namespace penstock {
namespace {

/// Tags them from `first`.
void push(Feed const& feed, std::uint64_t count, std::uint64_t first = 0) {
  for (std::uint64_t i = first; i < first + count; ++i) {
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
        Feed const feed = pipeline().feed();
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
  std::vector<std::uint64_t> tags;
  pipeline().start(add_one(), [&](Completion& completion) { tags.push_back(completion.loan->tag); });
  Feed feed = pipeline().feed();
  push(feed, 300);
  static_cast<void>(pipeline().drain());
  ASSERT_EQ(tags.size(), 300u);
  for (std::uint64_t i = 0; i < 300; ++i) EXPECT_EQ(tags[i], i);
}

TEST_P(PipelineContract, KeepsTheOrderOfEachOfManyThreadsThatSubmit) {
  auto options = usual();
  options.ordered = true;
  open(options);
  constexpr std::size_t threads = 3, each = 100;
  std::array<std::vector<std::uint64_t>, threads> tags;
  pipeline().start(
      add_one(), [&](Completion& completion) { tags.at(completion.loan->tag / each).push_back(completion.loan->tag); });
  {
    std::vector<std::jthread> application;
    for (std::size_t t = 0; t < threads; ++t) {
      application.emplace_back([&, t] {
        Feed feed = pipeline().feed();
        push(feed, each, t * each);
      });
    }
  }
  static_cast<void>(pipeline().drain());
  for (auto const& own : tags) {
    EXPECT_EQ(own.size(), each);
    EXPECT_TRUE(std::ranges::is_sorted(own));
  }
}

TEST_P(PipelineContract, CompletesBeforeAnybodyDrains) {
  open();
  pipeline().start(add_one(), note());
  Feed feed = pipeline().feed();
  push(feed, 100);  // Through eight tiles: they come home although no thread waits in drain.
  static_cast<void>(pipeline().drain());
  expect_each_once(100);
}

TEST_P(PipelineContract, DrainsNothing) {
  open();
  pipeline().start(add_one(), note());
  EXPECT_TRUE(pipeline().drain().ok());
}

TEST_P(PipelineContract, LendsNothingBeforeItIsStarted) {
  open();
  Feed feed = pipeline().feed();
  EXPECT_FALSE(feed.try_borrow());
  EXPECT_FALSE(feed.borrow(std::stop_token{}));
  try {
    feed.borrow();
    FAIL() << "it lent a tile";
  } catch (Error const& error) {
    EXPECT_NE(std::string(error.what()).find("not started"), std::string::npos) << error.what();
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
  }
  EXPECT_THROW(feed.expect_open(), Error);
}

TEST_P(PipelineContract, TellsThreadsThatFeedItThatItEnded) {
  open();
  Feed feed = pipeline().feed();
  auto const expect_ended = [&] {
    EXPECT_FALSE(feed.try_borrow());
    for (bool const waits : {false, true}) {
      try {
        waits ? void(feed.borrow()) : feed.expect_open();
        ADD_FAILURE() << "it is open";
      } catch (Error const& error) {
        EXPECT_EQ(error.kind(), ErrorKind::ended) << error.what();
      }
    }
  };
  for (bool const stopped : {false, true}) {
    pipeline().start(add_one(), note());
    EXPECT_NO_THROW(feed.expect_open());
    if (stopped) {
      pipeline().stop();
      expect_ended();
    }
    EXPECT_EQ(pipeline().drain().stopped, stopped);
    expect_ended();
  }
}

TEST_P(PipelineContract, RefusesWhatIsNoTileOfItsOwnOrSaysTooMuch) {
  open();
  Pipeline other(device(), usual());
  pipeline().start(add_one(), note());
  other.start(add_one(), note());
  Feed feed = pipeline().feed();
  EXPECT_THROW(feed.submit(Loan{}), Error);
  EXPECT_THROW(feed.submit(other.feed().borrow()), Error);
  Loan full = feed.borrow();
  full->filled = tile_bytes + 1;
  EXPECT_THROW(feed.submit(std::move(full)), Error);
  EXPECT_EQ(pipeline().pool().on_loan(), 0u) << "what was refused is home";
  push(feed, 10);
  EXPECT_EQ(pipeline().drain().tiles_done, 10u);
  EXPECT_EQ(other.drain().tiles(), 0u);
}

TEST_P(PipelineContract, RefusesTilesOnceDrained) {
  open();
  pipeline().start(add_one(), note());
  Feed feed = pipeline().feed();
  Loan kept = feed.borrow();
  static_cast<void>(pipeline().drain());
  EXPECT_THROW(feed.submit(std::move(kept)), Error);
  EXPECT_THROW(feed.borrow(), Error);
  EXPECT_FALSE(feed.try_borrow());
}

TEST_P(PipelineContract, RefusesToBeDrainedByItsOwnSink) {
  open();
  int refused = 0;
  auto const try_it = [&](Completion&) {
    try {
      static_cast<void>(pipeline().drain());
    } catch (Error const&) {
      ++refused;
    }
  };
  pipeline().start(add_one(), note(try_it));
  Feed feed = pipeline().feed();
  push(feed, 3);
  EXPECT_EQ(pipeline().drain().tiles_done, 3u);
  EXPECT_EQ(refused, 3);
  CountingSource source(3);
  EXPECT_EQ(pipeline().run(source, add_one(), note(try_it)).tiles_done, 3u);
  EXPECT_EQ(refused, 6);
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
  static_cast<void>(pipeline().drain());
}

TEST_P(PipelineContract, DrainsItselfWhenItDies) {
  Pipeline pipe(device(), usual());
  pipe.start(add_one(), note());
  Feed feed = pipe.feed();
  push(feed, 5);
}

}  // namespace
}  // namespace penstock
