// SPDX-License-Identifier: Apache-2.0
#include <thread>

void wait_a_little() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void wait_for_what(bool const& happened) {
  for (int i = 0; i < 1000000; ++i) {
    if (happened) return;
  }
}

void wait_for_nothing() {
  while (false) {
  }
}
