// SPDX-License-Identifier: Apache-2.0
#include "lease/ledger_look.hpp"

#include <atomic>
#include <memory>
#include <vector>

#include "lease/memory_ledger.hpp"
#include <gtest/gtest.h>

namespace penstock {
namespace {

/// A ledger that no owner can join for some times.
class LedgerWithoutDisk final : public Ledger {
 public:
  bool enqueue(std::span<LeaseWork const> work, bool last) override { return all_.enqueue(work, last); }
  std::unique_ptr<LeaseOwner> join(OwnerOptions options) override {
    if (refusals.fetch_sub(1) > 0) throw LedgerUnavailable("The disk is full.");
    return all_.join(options);
  }
  LedgerProgress progress() override { return all_.progress(); }
  std::vector<ParkedLease> parked(std::uint64_t after, std::size_t most) override { return all_.parked(after, most); }
  bool unpark(std::uint64_t number) override { return all_.unpark(number); }
  std::vector<LeaseAnswer> answers(std::uint64_t after, std::size_t most) override { return all_.answers(after, most); }

  std::atomic<int> refusals{2};

 private:
  support::MemoryLedger all_{1};
};

/// Seen to fail where a look that the ledger refused was one.
TEST(ALedgerLook, MakesReadyWhatAProcessHadOnceTheLedgerIsThereAgain) {
  LedgerWithoutDisk ledger;
  std::atomic<unsigned> looks{0};
  LedgerLook look(ledger, [&] {
    ++looks;
    looks.notify_all();
  });
  looks.wait(0);
  std::uint64_t const asked = look.ask();
  for (unsigned seen = looks; look.seen().asked < asked; seen = looks) {
    if (look.seen().asked < asked) looks.wait(seen);
  }
  EXPECT_LT(ledger.refusals, 0) << "it was asked until it could be joined";
  EXPECT_EQ(look.seen().problem, nullptr);
}

}  // namespace
}  // namespace penstock
