// SPDX-License-Identifier: Apache-2.0
#include "programs/work/watchdog.hpp"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"

namespace penstock::cli {
namespace {

/// What systemd gives to a service.
struct AService : testing::Test {
  Descriptor listening{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};

  void SetUp() override {
    std::string const name = "@penstock-watchdog-" + std::to_string(getpid());
    sockaddr_un here{};
    here.sun_family = AF_UNIX;
    name.copy(here.sun_path, name.size());
    here.sun_path[0] = '\0';
    auto const bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    ASSERT_EQ(bind(listening.number, reinterpret_cast<sockaddr const*>(&here), bytes), 0);
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
    setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
  }
  void TearDown() override {
    for (char const* const name : {"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"}) unsetenv(name);
  }
  /// The next message; empty if there is none.
  std::string heard() const {
    std::array<char, 64> got{};
    return recv(listening.number, got.data(), got.size() - 1, 0) > 0 ? got.data() : "";
  }
};

TEST_F(AService, FeedsItsWatchdogOnceInAThirdOfTheTime) {
  setenv("WATCHDOG_USEC", "3600000000", 1);
  Watchdog watchdog;
  watchdog.feed();
  watchdog.feed();
  EXPECT_EQ(heard(), "WATCHDOG=1");
  EXPECT_EQ(heard(), "");
}

TEST_F(AService, FeedsItAgainOnceThatTimeHasPassed) {
  setenv("WATCHDOG_USEC", "3", 1);
  Watchdog watchdog;
  for (int k = 0; k < 3; ++k) {
    while (heard().empty()) watchdog.feed();
  }
}

TEST_F(AService, FeedsNoneThatIsOfAnotherProcessOrWasNotAskedFor) {
  Watchdog().feed();
  setenv("WATCHDOG_USEC", "3", 1);
  setenv("WATCHDOG_PID", "1", 1);
  Watchdog().feed();
  EXPECT_EQ(heard(), "");
}

}  // namespace
}  // namespace penstock::cli
