// SPDX-License-Identifier: Apache-2.0
#include <thread>

void wait_a_little() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}
