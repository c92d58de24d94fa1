// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

#include "lease/ledger_store.hpp"

#include "engine/core/descriptor.hpp"
#include "penstock/lease/ledger.hpp"

namespace penstock {

/// An owner of leases in a ledger's file. It holds a lock that the system drops when its process ends.
///
/// Threads: any.
class SqliteOwner final : public LeaseOwner {
 public:
  /// Throws: as Ledger::join.
  SqliteOwner(std::shared_ptr<LedgerStore> store, OwnerOptions options);
  SqliteOwner(SqliteOwner const&) = delete;
  SqliteOwner& operator=(SqliteOwner const&) = delete;
  ~SqliteOwner() override;

  Exchange exchange(std::span<Settlement const> settlements, std::size_t most) override;
  void keep_alive() override;

 private:
  bool is_note_due() const;
  void note();

  std::shared_ptr<LedgerStore> const store_;
  SqliteNumber const silence_;
  Descriptor const lock_;
  SqliteNumber id_ = 0;
  std::chrono::nanoseconds noted_{0};  ///< When it was heard from last, as the ledger knows. Only in a LedgerSession.
};

}  // namespace penstock
