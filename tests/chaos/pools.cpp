// SPDX-License-Identifier: Apache-2.0
// A pool alone: borrowers that sleep, watch, give up or only look, of one part or several.
#include <array>
#include <atomic>
#include <barrier>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "chaos/chaos_case.hpp"
#include "chaos/delays.hpp"
#include "chaos/ledger.hpp"

#include "engine/core/pool.hpp"

namespace penstock::chaos {
namespace {

constexpr TileShape shape{.input_bytes = 64, .output_bytes = 0};

/// Holds every tile to one holder at a time.
struct Holders {
  explicit Holders(std::size_t tiles) : held(tiles) {}
  std::vector<std::atomic<bool>> held;
};

void use(Case& the_case, Holders& holders, Loan loan, Draw& draw) {
  std::uint32_t const index = loan->index();
  the_case.expect(!holders.held[index].exchange(true), "tile " + std::to_string(index) + " is lent twice");
  the_case.note(index);
  write_content(index, loan->input());
  for (std::uint64_t i = draw.below(4); i > 0; --i) std::this_thread::yield();
  the_case.expect(has_content(index, loan->input(), 0), "tile " + std::to_string(index) + " has a second writer");
  holders.held[index].store(false);
}

}  // namespace

void run_pools(Case& the_case) {
  std::size_t const parts = the_case.pick("parts", 1, 3);
  std::size_t const each = the_case.pick("tiles_each", 1, 3);
  std::size_t const threads = the_case.pick("threads", 2, 5);
  std::uint64_t const rounds = the_case.pick("rounds", 4, 40);
  bool const spins = the_case.once_in(2, "spins");
  bool const stops = the_case.once_in(3, "stops");
  // Each round ends for all before the next begins: a thread that was not woken for a tile sleeps for ever.
  bool const meets = !stops && the_case.once_in(2, "meets");
  std::chrono::microseconds const spin(spins ? 5 : 0);
  std::vector<std::unique_ptr<std::array<std::byte, 4096>>> slabs;
  std::vector<PoolPart> cut;
  for (std::size_t part = 0; part < parts; ++part) {
    slabs.push_back(std::make_unique<std::array<std::byte, 4096>>());
    cut.push_back({*slabs.back(), each});
  }
  begin(the_case.draw.next(), true);
  {
    Pool pool(cut, shape, spin);
    Holders holders(pool.size());
    std::stop_source stop;
    std::barrier end_of_round(static_cast<std::ptrdiff_t>(threads));
    std::vector<std::jthread> borrowers;
    for (std::size_t k = 0; k < threads; ++k) {
      borrowers.emplace_back([&, k, draw = the_case.draw.branch(k)]() mutable {
        for (std::uint64_t round = 0; round < (meets ? 16 * rounds : rounds); ++round) {
          std::size_t const part = draw.below(parts);
          std::optional<Loan> loan;
          if (draw.one_in(8)) {
            loan = pool.try_borrow(part);
          } else if (stops) {
            loan = pool.borrow(stop.get_token(), part);
            if (!loan) return;
          } else {
            loan = pool.borrow(part);
          }
          if (loan) use(the_case, holders, std::move(*loan), draw);
          if (meets) end_of_round.arrive_and_wait();
        }
        if (stops && k == 0) stop.request_stop();
      });
    }
    borrowers.clear();
    expect_tiles_home(the_case, pool);
  }
}

}  // namespace penstock::chaos
