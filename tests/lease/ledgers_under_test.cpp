// SPDX-License-Identifier: Apache-2.0
// The ledgers that the contract is held on, but for those that need a server.
#include "lease/a_ledger.hpp"
#include "lease/ledger_world.hpp"
#include <gtest/gtest.h>

namespace penstock::support {
namespace {

INSTANTIATE_TEST_SUITE_P(, ALedger,
                         testing::Values(LedgerUnderTest{"Memory", make_memory_world},
                                         LedgerUnderTest{"Sqlite", make_sqlite_world}),
                         [](auto const& info) { return info.param.name; });

}  // namespace
}  // namespace penstock::support
