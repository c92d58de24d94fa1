// SPDX-License-Identifier: Apache-2.0
#include "lab/cpu_laboratory.hpp"

namespace penstock::lab {
namespace {

struct LibraryCall : CpuLaboratory {
  void end_four(std::string const& label) {
    for (int i = 1; i <= 4; ++i) held.end(label + std::to_string(i));
  }
};

TEST_F(LibraryCall, JoinsThreadsThatUseTheirDefaultStreams) {
  begin(library_joins());
  held.await_given(9);
  held.await_started(4);
  for (int i = 1; i <= 4; ++i) {
    let_all_else_run();
    EXPECT_EQ(held.started().size(), 4u) << "one of those before it still runs";
    held.end("first " + std::to_string(i));
  }
  held.await_started("call");
  let_all_else_run();
  EXPECT_EQ(held.started().size(), 5u) << "the call still runs";
  held.end("call");
  held.await_started(9);
  end_four("second ");
  EXPECT_TRUE(seen.get().verdict.as_expected);
}

TEST_F(LibraryCall, IsUnknownToNonBlockingStreams) {
  begin(library_beside());
  held.await_started(5);
  end_four("first ");
  held.await_started(9);
  end_four("second ");
  held.end("call");
  EXPECT_TRUE(seen.get().verdict.as_expected);
}

}  // namespace
}  // namespace penstock::lab
