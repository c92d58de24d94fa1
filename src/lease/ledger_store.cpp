// SPDX-License-Identifier: Apache-2.0
#include "lease/ledger_store.hpp"

#include <utility>

namespace penstock {

std::shared_ptr<LedgerStore> LedgerStore::open(std::string const& path, LedgerOptions options) {
  return {new LedgerStore(path, std::move(options)), [](LedgerStore* store) {
            std::unique_ptr<LedgerStore> held(store);
            left_to_parent(held);
          }};
}

LedgerStore::LedgerStore(std::string const& path, LedgerOptions options)
    : file(path, std::move(options)),
      leases(file),
      watch(file, leases),
      closed_(file.connection(), "select closed from ledger") {}

bool LedgerStore::is_closed() {
  bool const closed = closed_.with().next() && closed_.number(0) != 0;
  closed_.with();
  return closed;
}

}  // namespace penstock
