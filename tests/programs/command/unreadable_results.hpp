// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock::cli {

/// Holds `read` to refusing what it reads in a sentence that says what to do, without the parser's name for it.
inline void expect_unreadable(std::function<void()> const& read) {
  try {
    read();
    ADD_FAILURE() << "it was read";
  } catch (Error const& error) {
    std::string const said = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::system);
    EXPECT_NE(said.find("Results of another process cannot be read ("), std::string::npos) << said;
    EXPECT_NE(said.find("use programs of one build"), std::string::npos) << said;
    EXPECT_EQ(said.find("[json."), std::string::npos) << said;
  }
}

}  // namespace penstock::cli
