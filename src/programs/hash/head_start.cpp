// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/head_start.hpp"

#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <pthread.h>

#include "engine/core/failure_text.hpp"
#include "engine/core/pool.hpp"
#include "kernels/blake3/blake3_subtree.hpp"
#include "penstock/clock.hpp"

namespace penstock::cli {
namespace {

/// State that the threads share.
class Runners {
 public:
  Runners(HashSource& source, Pool& pool, HashBook& book, Progress& progress, std::stop_token const& enough)
      : source_(source), pool_(pool), book_(book), progress_(progress), enough_(enough) {}

  void run() {
    Loan const loan = pool_.borrow();
    while (claim(*loan)) {
      try {
        hash(*loan);
      } catch (std::exception const& problem) {
        break_off(failure_text(problem));
      }
    }
  }
  HeadStart result() const { return result_; }

 private:
  bool claim(Tile& tile) {
    std::scoped_lock const lock(claim_mutex_);
    if (result_.input_ended || enough_.stop_requested()) return false;
    try {
      result_.input_ended = !source_.next(tile);
    } catch (std::exception const& problem) {
      result_.input_ended = true;
      break_off(failure_text(problem));
    }
    return !result_.input_ended;
  }

  /// Throws: what the book throws.
  void hash(Tile& tile) {
    if (FileGroup const* const group = source_.group_of(tile)) {
      source_.fill(tile);
      progress_.add(group->bytes);
      return;
    }
    auto const place = source_.place_of(tile);
    try {
      tile.filled = source_.fill(tile);
    } catch (std::exception const& problem) {
      book_.fail(place.file, failure_text(problem));
      return;
    }
    book_.add(place.file, place.tile, blake3_subtree(tile.filled_input(), tile.tag), tile.filled);
    progress_.add(tile.filled);
    std::scoped_lock const lock(result_mutex_);
    ++result_.tiles;
    result_.bytes += tile.filled;
  }

  void break_off(std::string const& why) {
    std::scoped_lock const lock(result_mutex_);
    if (!result_.broken_off) result_.broken_off = why;
  }

  HashSource& source_;
  Pool& pool_;
  HashBook& book_;
  Progress& progress_;
  std::stop_token const& enough_;
  std::mutex claim_mutex_;  ///< Guards `source_.next` and `input_ended`.
  std::mutex result_mutex_;
  HeadStart result_;
};

}  // namespace

HeadStart take_head_start(HashSource& source, Pool& pool, HashBook& book, Progress& progress,
                          std::stop_token const& enough) {
  auto const start = Clock::now();
  Runners runners(source, pool, book, progress, enough);
  {
    std::vector<std::jthread> threads;
    try {
      while (threads.size() + 1 < pool.size()) {
        threads.emplace_back([&] { runners.run(); });
        pthread_setname_np(threads.back().native_handle(), "ps-head-start");
      }
    } catch (std::system_error const&) {
      // The threads that could be started are enough; this one is always there.
    }
    runners.run();
  }
  HeadStart result = runners.result();
  result.wall = Clock::now() - start;
  return result;
}

}  // namespace penstock::cli
