// SPDX-License-Identifier: Apache-2.0
#include "lease/worker_lines.hpp"

#include <array>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace penstock {
namespace {

/// Two workers that print. At the end all pipes are closed.
struct LinesOfTwo : testing::Test {
  struct Pipes {
    Descriptor output, complaint;
  };
  std::string printed;  ///< Behind the end of `lines` alone.
  std::string complained;
  std::optional<WorkerLines> lines{std::in_place, WorkerLines::To{[this](std::string_view some) { printed += some; },
                                                                  [this](unsigned place, std::string_view some) {
                                                                    complained +=
                                                                        std::to_string(place) + ":" + std::string(some);
                                                                  }}};
  std::array<Pipes, 3> of;

  void SetUp() override {
    for (unsigned const place : {1U, 2U}) {
      int output[2], complaint[2];
      ASSERT_EQ(pipe(output), 0);
      ASSERT_EQ(pipe(complaint), 0);
      of[place].output.number = output[1];
      of[place].complaint.number = complaint[1];
      lines->add(place, output[0], complaint[0]);
    }
  }
  void put(unsigned place, std::string const& text) const {
    ASSERT_EQ(write(of[place].output.number, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end(unsigned place, bool cut = false) {
    of[place].output.shut();
    of[place].complaint.shut();
    lines->end(place, cut);
  }
};

TEST_F(LinesOfTwo, AreNeverMixed) {
  put(1, "on");
  put(2, "two\n");
  put(1, "e\nand ");
  put(2, "more\n");
  put(1, "one\n");
  end(1);
  end(2);
  lines.reset();
  for (char const* const line : {"one\n", "two\n", "more\n", "and one\n"})
    EXPECT_NE(printed.find(line), std::string::npos) << printed;
  EXPECT_EQ(printed.size(), std::string("one\ntwo\nmore\nand one\n").size());
}

TEST_F(LinesOfTwo, GetTheirEndIfTheWorkerEndedByItself) {
  put(1, "whole\nlast");
  end(1);
  end(2);
  lines.reset();
  EXPECT_EQ(printed, "whole\nlast\n");
}

/// Seen to fail where what was read was passed on as it came.
TEST_F(LinesOfTwo, AreLeftOutIfTheWorkerWasKilledInTheMiddle) {
  put(1, "whole\nla");
  end(1, true);
  end(2);
  lines.reset();
  EXPECT_EQ(printed, "whole\n");
}

/// A process that the worker left behind has the pipe.
TEST_F(LinesOfTwo, EndWithTheWorkerThoughOthersHaveItsPipe) {
  put(1, "whole\n");
  lines->end(1, false);
  end(2);
  lines.reset();
  EXPECT_EQ(printed, "whole\n");
}

TEST_F(LinesOfTwo, OfComplaintsSayWhichWorkerItWas) {
  std::string const text = "so\n";
  ASSERT_EQ(write(of[2].complaint.number, text.data(), text.size()), 3);
  end(1);
  end(2);
  lines.reset();
  EXPECT_EQ(complained, "2:so\n");
}

}  // namespace
}  // namespace penstock
