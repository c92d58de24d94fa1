// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/thread_state.hpp"
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ingest/ring/a_ring_of_three.hpp"
#include "penstock/ingest/shared_ring.hpp"

namespace penstock {
namespace {

using support::ARingOfThree;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST_F(ARingOfThree, HasTilesStandForItsSlots) {
  auto one = writer();
  send(*one, "one", 7);
  one->claim();
  one->commit(0);
  Loan const loan = next();
  EXPECT_EQ(text_of(loan), "one");
  EXPECT_EQ(loan->tag, 7U);
  EXPECT_TRUE(loan->uses_memory());
  EXPECT_EQ(loan->input().data(), ring().memory().data());
  Loan const empty = next();
  EXPECT_EQ(empty->filled, 0U);
  ASSERT_EQ(source().pieces_of(*empty).size(), 1U);
  EXPECT_EQ(source().pieces_of(*empty).front().sequence, 1U);
  EXPECT_EQ(counts().out, 2U);
}

TEST_F(ARingOfThree, GivesASlotBackWhenTheLoanDies) {
  auto one = writer();
  for (auto const* const text : {"a", "b", "c"}) send(*one, text);
  EXPECT_FALSE(one->try_claim());
  Loan first = next(), second = next();
  EXPECT_FALSE(one->try_claim(std::chrono::milliseconds(1)));
  second.give_back();
  EXPECT_FALSE(one->try_claim()) << "slots are claimed in order";
  first.give_back();
  send(*one, "d");
  send(*one, "e");
  EXPECT_FALSE(one->try_claim());
  for (auto const* const left : {"c", "d", "e"}) EXPECT_EQ(text(), left);
}

TEST_F(ARingOfThree, GoesRoundWithWritersAndReaderAtOnce) {
  shape.writers = 2;
  options.writers = 2;
  source();
  auto const write = [](std::unique_ptr<SharedRingWriter> one, unsigned count) {
    for (unsigned k = 0; k < count; ++k) send(*one, std::to_string(k), one->place());
  };
  std::jthread first(write, writer(), 400), second(write, writer(), 300);
  std::vector<Loan> held;
  std::array<unsigned, 2> seen{};
  std::mt19937 random(1);
  for (Loan loan = next(); loan; loan = next()) {
    SharedPiece const piece = source().pieces_of(*loan).front();
    ASSERT_EQ(piece.place, piece.tag);
    ASSERT_EQ(text_of(loan), std::to_string(seen.at(piece.place)));
    ASSERT_EQ(piece.sequence, seen.at(piece.place)++);
    held.push_back(std::move(loan));
    if (held.size() < 2) continue;
    if (random() % 2 == 0) std::swap(held[0], held[1]);
    held.clear();
  }
  held.clear();
  EXPECT_EQ(seen[0] + seen[1], 700U);
  EXPECT_EQ(counts().pieces, 700U);
  EXPECT_EQ(counts().writers, 2U);
  EXPECT_THAT(source().remarks(), ElementsAre());
  EXPECT_THAT(source().left_out(), ElementsAre());
}

TEST_F(ARingOfThree, CopiesWhatIsThereIntoOneTileIfAsked) {
  options.copies = true;
  auto one = writer();
  for (auto const* const text : {"one", "", "three"}) send(*one, text, 5);
  Loan loan = next();
  EXPECT_EQ(text_of(loan), "onethree");
  EXPECT_FALSE(loan->uses_memory());
  ASSERT_EQ(source().pieces_of(*loan).size(), 3U);
  EXPECT_EQ(source().pieces_of(*loan)[2].offset, 3U);
  EXPECT_EQ(counts().out, 0U) << "the slots are free although the tile is out";
  for (char const letter : {'a', 'b', 'c'}) send(*one, std::string(4000, letter));
  loan = next();
  EXPECT_EQ(text_of(loan), std::string(4000, 'a') + std::string(4000, 'b')) << "as many as fit, whole";
  loan = next();
  EXPECT_EQ(text_of(loan), std::string(4000, 'c'));
}

TEST_F(ARingOfThree, CountsWhatWritersLeaveOut) {
  auto one = writer();
  send(*one, "a");
  one->note_dropped(3);
  send(*one, "b");
  EXPECT_EQ(text(), "a");
  EXPECT_EQ(counts().lost, 0U);
  EXPECT_EQ(text(), "b");
  one->note_dropped();
  one = nullptr;
  EXPECT_EQ(text(), "the end");
  EXPECT_EQ(counts().lost, 4U);
  EXPECT_THAT(describe(source().left_out()), HasSubstr("4 pieces, dropped"));
}

TEST_F(ARingOfThree, WaitsForAsManyWritersAsAreExpected) {
  options.writers = 2;
  auto one = writer();
  EXPECT_THROW(writer(), Error) << "it has one place";
  send(*one, "one");
  one = nullptr;
  EXPECT_EQ(text(), "one");
  one = writer();
  one->claim();  // Given up.
  one = nullptr;
  EXPECT_EQ(text(), "the end");
  EXPECT_EQ(counts().died + counts().unfinished, 0U);
}

TEST_F(ARingOfThree, EndsForSilenceOrAtOnceWhenAsked) {
  options.idle = std::chrono::milliseconds(0);
  auto one = writer();
  send(*one, "one");
  EXPECT_EQ(text(), "one");
  EXPECT_EQ(text(), "the end");
  send(*one, "two");
  stop.request_stop();
  EXPECT_EQ(text(), "the end");
  EXPECT_THAT(describe(source().left_out()), HasSubstr("1 piece, in the shared ring, unread"));
  made = nullptr;
  options = {};
  EXPECT_EQ(text(), "two") << "another source goes on";
  EXPECT_THROW(SharedRingSource(ring(), pool), Error) << "there is one";
}

TEST_F(ARingOfThree, TakesItForNoSilenceThatAllSlotsAreOut) {
  options.idle = std::chrono::milliseconds(10);
  auto one = writer();
  std::vector<Loan> held;
  for (auto const* const text : {"a", "b", "c"}) {
    send(*one, text);
    held.push_back(next());
  }
  std::atomic<pid_t> thread{0};
  std::atomic<bool> ended{false};
  std::string came;
  std::jthread waits([&] {
    thread = gettid();
    came = text();
    ended = true;
  });
  while (thread == 0) std::this_thread::yield();
  auto const begin = std::chrono::steady_clock::now();
  while (!ended && std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(30)) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(ended);
  held.clear();
  // Silence ends it from here on.
  waits.join();
  EXPECT_EQ(came, "the end");
}

/// True if `waits`, in a thread of its own that sleeps, returns at once when `ask` asks it to. A side that is not told
/// would look within 100 ms; a busy machine may be as slow, now and then.
bool at_once(std::function<void()> const& before, std::function<void()> const& waits,
             std::function<void()> const& ask) {
  for (int tries = 0; tries < 20; ++tries) {
    before();
    std::atomic<pid_t> thread{0};
    std::jthread waiting([&] {
      thread = gettid();
      waits();
    });
    while (thread == 0) std::this_thread::yield();
    support::await_asleep(thread);
    auto const asked = std::chrono::steady_clock::now();
    ask();
    waiting.join();
    if (std::chrono::steady_clock::now() - asked < std::chrono::milliseconds(40)) return true;
  }
  return false;
}

TEST_F(ARingOfThree, StopsAtOnceWhileItWaits) {
  auto const make = [&] {
    made = nullptr;
    stop = {};
    options.stop = stop.get_token();
    source();
  };
  auto one = writer();
  EXPECT_TRUE(at_once(
      make, [&] { EXPECT_EQ(text(), "the end"); }, [&] { stop.request_stop(); }));
}

TEST_F(ARingOfThree, WakesAReaderByACommitAndAWriterByADyingLoan) {
  auto one = writer();
  source();
  Loan loan;
  EXPECT_TRUE(at_once([] {}, [&] { loan = next(); }, [&] { send(*one, "one"); }));
  auto const fill = [&] {
    while (one->try_claim()) one->commit(1);
    if (!loan) loan = next();
  };
  EXPECT_TRUE(at_once(
      fill, [&] { one->claim(); }, [&] { loan.give_back(); }));
}

TEST_F(ARingOfThree, WakesAWriterWhenItEnds) {
  std::unique_ptr<SharedRingWriter> one;
  auto const fill = [&] {
    one = writer();
    while (one->try_claim()) one->commit(1);
  };
  auto const claim = [&] { EXPECT_THAT([&] { one->claim(); }, ThrowsMessage<Error>(HasSubstr("has ended"))); };
  EXPECT_TRUE(at_once(fill, claim, [&] { made_ring = nullptr; }));
}

TEST_F(ARingOfThree, RefusesWhatCannotBe) {
  for (SharedRingShape const wrong : {SharedRingShape{.slots = 0},
                                      {.slot_bytes = 0},
                                      {.writers = 257},
                                      {.slot_bytes = SIZE_MAX, .slots = 2},
                                      {.slot_bytes = std::size_t{1} << 45}}) {
    EXPECT_THROW(SharedRing{wrong}, Error);
  }
  shape.slot_bytes = 2 * 4096 + 1;
  EXPECT_THROW(source(), Error) << "larger than a tile";
  std::string const link = testing::TempDir() + "penstock-link-" + std::to_string(getpid());
  for (auto const* const target : {"/proc/nothing", "/proc/0/fd/", "/proc//fd/1", "/proc/1/fd/1x", "/proc/1x/fd/1"}) {
    ASSERT_EQ(symlink(target, link.c_str()), 0);
    EXPECT_THROW(SharedRing(link, {.slot_bytes = 1}), Error) << target;
    EXPECT_EQ(unlink(link.c_str()), 0) << target << " was removed";
  }
  for (auto const* const path : {"/proc/self/exe", "/dev/null", "/nowhere/ring"}) {
    EXPECT_THROW(SharedRingWriter{path}, Error) << path;
    EXPECT_THROW(SharedRing(path, {.slot_bytes = 1}), Error) << path;
  }
  int const other = memfd_create("other", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  std::vector<char> const zeros(8192);
  ASSERT_EQ(write(other, zeros.data(), zeros.size()), 8192);
  ASSERT_EQ(fcntl(other, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_THROW(SharedRingWriter{other}, Error);
}

}  // namespace
}  // namespace penstock
