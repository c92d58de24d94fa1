// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/held_laboratory.hpp"

namespace penstock::lab {
namespace {

void end_four(support::HeldKernels& held, std::string const& label) {
  for (int i = 1; i <= 4; ++i) held.end(label + std::to_string(i));
}

TEST_P(HeldLaboratory, SeesALibraryJoinThreadsThatUseTheirDefaultStreams) {
  begin(library_joins());
  held().await_given(9);
  held().await_started(4);
  for (int i = 1; i <= 4; ++i) {
    let_all_else_run();
    EXPECT_EQ(held().started().size(), 4u) << "one of those before it still runs";
    held().end("first " + std::to_string(i));
  }
  held().await_started("call");
  let_all_else_run();
  EXPECT_EQ(held().started().size(), 5u) << "the call still runs";
  held().end("call");
  held().await_started(9);
  end_four(held(), "second ");
  EXPECT_TRUE(verdict().as_expected);
}

TEST_P(HeldLaboratory, SeesALibraryBesideNonBlockingStreams) {
  begin(library_beside());
  held().await_started(5);
  end_four(held(), "first ");
  held().await_started(9);
  end_four(held(), "second ");
  held().end("call");
  EXPECT_TRUE(verdict().as_expected);
}

}  // namespace
}  // namespace penstock::lab
