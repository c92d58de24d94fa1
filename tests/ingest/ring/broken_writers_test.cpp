// SPDX-License-Identifier: Apache-2.0
// Tests what a SharedRingSource makes of writers that are killed or write what they should not.
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "support/thread_state.hpp"
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ingest/ring/a_ring_of_three.hpp"
#include "ingest/ring/ring_memory.hpp"

namespace penstock {
namespace {

using support::ARingOfThree;
using support::joined;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// A process that runs `body`, and then waits until it is killed; at the latest when this dies.
class Child {
 public:
  /// Blocks: until `body` has returned.
  explicit Child(std::function<void()> const& body) {
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      try {
        body();
        if (write(ready[1], "x", 1) == 1) pause();
      } catch (...) {
      }
      _exit(1);
    }
    close(ready[1]);
    char byte = 0;
    worked_ = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
  }
  Child(Child const&) = delete;
  Child& operator=(Child const&) = delete;
  ~Child() { die(); }
  bool worked() const { return worked_; }
  void die() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  pid_t process_ = 0;
  bool worked_ = false;
};

TEST_F(ARingOfThree, SeesNothingOfASlotWhoseWriterWasKilled) {
  ring();
  Child child([&] {
    auto* const one = new SharedRingWriter(dup(ring().descriptor()));
    send(*one, "one");
    send(*one, "two");
    std::memcpy(one->claim().data(), "half", 4);
  });
  ASSERT_TRUE(child.worked());
  EXPECT_EQ(text(), "one");
  EXPECT_EQ(counts().died, 0U);
  child.die();
  EXPECT_EQ(text(), "two");
  EXPECT_EQ(text(), "the end");
  EXPECT_EQ(counts().died, 1U);
  EXPECT_EQ(counts().unfinished, 1U);
  EXPECT_THAT(joined(source().remarks()), HasSubstr("1 writer was killed"));
}

TEST_F(ARingOfThree, GoesOnWithTheNextWriterWhereOneWasKilled) {
  options.writers = 2;
  ring();
  Child child([&] {
    auto* const one = new SharedRingWriter(dup(ring().descriptor()));
    send(*one, "one");
    std::memcpy(one->claim().data(), "half", 4);
  });
  child.die();
  auto one = writer();
  send(*one, "two");
  Loan const first = next(), second = next();
  EXPECT_EQ(text_of(first) + text_of(second), "onetwo");
  EXPECT_EQ(source().pieces_of(*second).front().sequence, 1U);
  EXPECT_EQ(counts().unfinished, 1U);
  one = nullptr;
  EXPECT_EQ(text(), "the end");
}

TEST_F(ARingOfThree, SaysToAWriterThatTheReaderWasKilled) {
  std::string const path = testing::TempDir() + "penstock-ring-" + std::to_string(getpid());
  Child reader([&] { new SharedRing(path, shape); });
  ASSERT_TRUE(reader.worked());
  SharedRingWriter one(path);
  EXPECT_THROW(SharedRing(path, shape), Error) << "a reader is there";
  while (one.try_claim()) one.commit(1);
  std::atomic<pid_t> thread{0};
  std::jthread waits([&] {
    thread = gettid();
    EXPECT_THAT([&] { one.claim(); }, ThrowsMessage<Error>(HasSubstr("was killed")));
  });
  while (thread == 0) std::this_thread::yield();
  support::await_asleep(thread);
  reader.die();
  waits.join();
  EXPECT_THAT([&] { SharedRingWriter{path}; }, ThrowsMessage<Error>(HasSubstr("There is no shared ring")));
  SharedRing const next(path, shape);  // Takes the place of the link that was left.
  SharedRingWriter const found(path);
}

/// A ring to which a writer does wrong by a mapping of its own.
struct ARingOfThreeWrittenOver : ARingOfThree {
  std::unique_ptr<RingMemory> memory = RingMemory::open(ring().descriptor());
  void TearDown() override {
    memory = nullptr;
    ARingOfThree::TearDown();
  }
};

TEST_F(ARingOfThreeWrittenOver, RefusesALengthBeyondASlot) {
  auto one = writer();
  for (auto const* const text : {"one", "two", "three"}) send(*one, text);
  memory->slot(0, 0).bytes = 4097;
  memory->slot(0, 1).bytes = UINT64_MAX;
  EXPECT_EQ(text(), "three");
  EXPECT_EQ(counts().refused, 2U);
  send(*one, "four");
  EXPECT_EQ(text(), "four");
  EXPECT_THAT(describe(source().left_out()), HasSubstr("2 pieces, refused"));
  EXPECT_THROW(one->commit(1), Error) << "none is claimed";
  one->claim();
  EXPECT_THROW(one->commit(4097), Error);
}

TEST_F(ARingOfThreeWrittenOver, ReadsNoMoreOfAPlaceThatIsDamaged) {
  auto one = writer();
  send(*one, "one");
  send(*one, "two");
  memory->slot(0, 1).state = 12345;
  EXPECT_EQ(text(), "one");
  EXPECT_EQ(text(), "the end") << "although its writer is there";
  EXPECT_THAT([&] { one->claim(); }, ThrowsMessage<Error>(HasSubstr("damaged")));
  EXPECT_THAT(describe(source().left_out()), HasSubstr("written over"));
}

TEST_F(ARingOfThreeWrittenOver, HasNoTwoTilesStandForOneSlot) {
  auto one = writer();
  send(*one, "one");
  Loan const out = next();
  for (std::uint64_t const turn : {1U, 2U}) {
    send(*one, "two");
    EXPECT_EQ(text(), "two") << turn;
  }
  memory->slot(0, 3).state = slot_state(3, SlotPhase::committed);
  EXPECT_EQ(text(), "the end");
  EXPECT_EQ(counts().damaged, 1U);
}

TEST_F(ARingOfThreeWrittenOver, ReadsNothingBeyondASlotWhateverIsWritten) {
  options.idle = std::chrono::milliseconds(0);
  std::mt19937_64 random(7);
  auto const interesting = [&]() -> std::uint64_t {
    std::uint64_t const turn = random() % 5;
    switch (random() % 4) {
      case 0:
        return random();
      case 1:
        return UINT64_MAX - random() % 3;
      default:
        return turn << 2 | random() % 4;
    }
  };
  for (int round = 0; round < 300; ++round) {
    made = nullptr;
    made_ring = nullptr;
    memory = RingMemory::open(ring().descriptor());
    source();
    auto* const words = reinterpret_cast<std::atomic<std::uint64_t>*>(&memory->head());
    std::size_t const count = sizeof(RingHead) / 8 + sizeof(RingPlace) / 8 + 3 * sizeof(RingSlot) / 8;
    for (int step = 0; step < 30; ++step) {
      if (random() % 2 == 0) {
        // Mostly where a slot's state is.
        std::size_t const slot = (sizeof(RingHead) + sizeof(RingPlace)) / 8 + random() % 3 * (sizeof(RingSlot) / 8);
        words[random() % 2 == 0 ? slot + random() % 4 : random() % count] = interesting();
      } else if (Loan const loan = next()) {
        ASSERT_LE(loan->filled, 4096U);
        auto const all = ring().memory();
        ASSERT_GE(loan->input().data(), all.data());
        ASSERT_LE(loan->input().data() + loan->filled, all.data() + all.size());
      }
      counts();
    }
  }
}

}  // namespace
}  // namespace penstock
