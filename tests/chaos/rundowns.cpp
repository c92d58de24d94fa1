// SPDX-License-Identifier: Apache-2.0
// A rundown alone, opened and closed while threads come in and leave.
#include <atomic>
#include <thread>
#include <vector>

#include "chaos/chaos_case.hpp"
#include "chaos/delays.hpp"

#include "engine/core/rundown.hpp"

namespace penstock::chaos {

void run_rundowns(Case& the_case) {
  std::uint64_t const threads = the_case.pick("threads", 1, 4);
  std::uint64_t const rounds = the_case.pick("rounds", 1, 12);
  begin(the_case.draw.next(), true);
  Rundown rundown(false);
  std::atomic<std::uint64_t> inside{0}, came_in{0};
  std::atomic<bool> over{false};
  std::vector<std::jthread> coming;
  for (std::uint64_t k = 0; k < threads; ++k) {
    coming.emplace_back([&] {
      while (!over.load()) {
        Rundown::Pass const in(rundown);
        if (in) {
          inside.fetch_add(1);
          came_in.fetch_add(1);
          inside.fetch_sub(1);
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::uint64_t const before = came_in.load();
    rundown.open();
    while (came_in.load() == before) std::this_thread::yield();
    the_case.expect(rundown.close(), "an open rundown says that it was closed");
    the_case.expect(inside.load() == 0, "a thread is inside a rundown that is closed");
    std::uint64_t const then = came_in.load();
    std::this_thread::yield();
    the_case.expect(came_in.load() == then, "a thread came into a rundown that is closed");
  }
  over.store(true);
}

}  // namespace penstock::chaos
