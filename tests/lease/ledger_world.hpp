// SPDX-License-Identifier: Apache-2.0
// What each ledger is tested in: a clock that tests set, and owners that the system kills.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/lease/ledger.hpp"

namespace penstock::support {

/// An owner in a process that the test kills.
class DoomedOwner {
 public:
  virtual ~DoomedOwner() = default;
  /// Takes leases; their numbers.
  virtual std::vector<std::uint64_t> take(std::size_t most) = 0;
  /// Ends it as SIGKILL does. Returns once the system has ended it.
  virtual void die() = 0;
};

class LedgerWorld {
 public:
  static constexpr std::uint32_t most_tries = 3;

  virtual ~LedgerWorld() = default;
  virtual Ledger& ledger() = 0;
  virtual std::unique_ptr<DoomedOwner> doomed_owner() = 0;
  /// The clock, for silence and ages.
  virtual void let_pass(std::chrono::milliseconds time) = 0;
};

/// The same ledger, as a test's parameter.
struct LedgerUnderTest {
  std::string name;
  std::unique_ptr<LedgerWorld> (*make)();
};

std::unique_ptr<LedgerWorld> make_memory_world();
/// The same with a clock that runs by itself.
std::unique_ptr<LedgerWorld> make_running_memory_world();
std::unique_ptr<LedgerWorld> make_sqlite_world();

/// Leases with the payloads "1", "2" ...
inline std::vector<LeaseWork> numbered_work(std::size_t count) {
  std::vector<LeaseWork> work;
  for (std::size_t k = 1; k <= count; ++k) work.push_back({.payload = std::to_string(k)});
  return work;
}

inline std::vector<std::uint64_t> numbers_of(std::vector<Lease> const& leases) {
  std::vector<std::uint64_t> numbers;
  for (Lease const& lease : leases) numbers.push_back(lease.number);
  return numbers;
}

inline Settlement settle(Lease const& lease, Settlement::Kind kind, std::string text = {}) {
  return {.kind = kind, .number = lease.number, .tries = lease.tries, .text = std::move(text)};
}

inline std::vector<Settlement> settle_all(std::vector<Lease> const& leases, Settlement::Kind kind) {
  std::vector<Settlement> settlements;
  for (Lease const& lease : leases) settlements.push_back(settle(lease, kind, "of " + lease.work.payload));
  return settlements;
}

}  // namespace penstock::support
