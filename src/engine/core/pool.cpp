// SPDX-License-Identifier: Apache-2.0
#include "engine/core/pool.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <string>

#include "engine/core/event_count.hpp"
#include "engine/core/say.hpp"
#include "penstock/clock.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::size_t all = Pool::max_tiles;
constexpr auto never = Clock::time_point::max();

std::size_t all_tiles(std::span<PoolPart const> parts) {
  std::size_t sum = 0;
  for (PoolPart const& part : parts) sum += Pool::checked_count(part.tiles);
  return Pool::checked_count(sum);
}

}  // namespace

/// A waiter, on the stack of its own thread and linked under queue_mutex_.
struct Pool::Borrower {
  explicit Borrower(std::size_t preferred) : part(preferred) {}
  std::size_t const part;
  unsigned passed_over = 0;
  Borrower* next = nullptr;
  Tile* given = nullptr;
  std::condition_variable_any arrived;
};

std::size_t Pool::checked_count(std::size_t tiles) {
  if (tiles == 0 || tiles > max_tiles) {
    throw Error(ErrorKind::bad_argument, "A pool holds 1 to " + std::to_string(max_tiles) + " tiles, not " +
                                             std::to_string(tiles) + ": ask for fewer and larger tiles.");
  }
  return tiles;
}

std::size_t Pool::slab_bytes(TileShape const& shape, std::size_t tiles) {
  // Each part is checked by itself, so that no sum or product below can wrap around.
  constexpr std::size_t most = std::size_t{1} << 47;
  if (shape.largest_part() <= most) {
    std::size_t tile = stride(shape.input_bytes) + (shape.in_place ? 0 : stride(shape.output_bytes));
    for (std::size_t const bytes : shape.more_input_bytes) tile += stride(bytes);
    if (tile == 0 || tiles <= most / tile) return tiles * tile;
  }
  throw Error(ErrorKind::bad_argument,
              std::to_string(tiles) + " tiles of " + std::to_string(shape.input_bytes) + " and " +
                  std::to_string(shape.output_bytes) +
                  " bytes are more than a process can address: ask for fewer or smaller ones.");
}

Pool::Pool(std::span<std::byte> slab, TileShape shape, std::size_t tiles, std::chrono::nanoseconds spin)
    : Pool(std::array{PoolPart{slab, tiles}}, shape, spin) {}

Pool::Pool(std::span<PoolPart const> parts, TileShape shape, std::chrono::nanoseconds spin, std::size_t reserve)
    : shape_(shape),
      tiles_(all_tiles(parts)),
      home_(parts.front().tiles),
      first_of_reserve_(tiles_.size() - (parts.size() == 1 ? reserve : 0)),
      reserve_(first_of_reserve_ < tiles_.size() ? std::make_unique<TileQueue>(reserve) : nullptr),
      spin_(spin) {
  if (shape.in_place && shape.output_bytes != shape.input_bytes) {
    throw Error(ErrorKind::bad_argument,
                "A tile worked on in place has as many output bytes as input bytes: make them equal.");
  }
  std::size_t first = 0;
  for (std::size_t number = 0; number < parts.size(); ++number) {
    if (number > 0) more_homes_.push_back(std::make_unique<TileQueue>(parts[number].tiles));
    add(parts[number], number, first);
    first += parts[number].tiles;
  }
}

void Pool::add(PoolPart const& part, std::size_t number, std::size_t first) {
  if (std::size_t const needed = slab_bytes(shape_, part.tiles); part.slab.size() < needed) {
    throw Error(ErrorKind::bad_argument, std::to_string(part.tiles) + " tiles need a slab of " +
                                             std::to_string(needed) + " bytes, but it has " +
                                             std::to_string(part.slab.size()) + ".");
  }
  for (std::size_t i = 0; i < part.tiles; ++i) {
    Tile& tile = tiles_[first + i];
    tile.parts_ = shape_.cut(part.slab, part.tiles, i);
    tile.home_ = this;
    tile.index_ = static_cast<std::uint32_t>(first + i);
    tile.pool_part_ = static_cast<std::uint16_t>(number);
    home_of(tile).push(tile.index_);
  }
}

Pool::~Pool() {
  if (std::size_t const out = on_loan()) {
    say("a Pool died with %zu of %zu tiles on loan; let every Loan die first.", out, size());
  }
}

/// A tile of `part`, or else of the next part that has any, or else of the reserve.
Tile* Pool::pop(std::size_t part) noexcept {
  auto index = home_of(part).pop();
  if (!index && !more_homes_.empty()) index = pop_elsewhere(part);
  // Acquire: a thread that sees it open sees what is in it, or is served by the thread that opens it.
  if (!index && reserve_ != nullptr && reserve_open_.load(std::memory_order_acquire)) index = reserve_->pop();
  return index ? &tiles_[*index] : nullptr;
}

/// A tile may come home to a part that was passed already. The thread that brings it then sees the waiters, because
/// each waiter goes round once more after it was counted.
std::optional<std::uint32_t> Pool::pop_elsewhere(std::size_t part) noexcept {
  for (std::size_t k = 1; k < parts(); ++k) {
    if (auto const index = home_of((part + k) % parts()).pop()) return index;
  }
  return std::nullopt;
}

bool Pool::none_home() const noexcept {
  if (reserve_ != nullptr && reserve_is_open() && !reserve_->empty()) return false;
  return home_.empty() &&
         std::all_of(more_homes_.begin(), more_homes_.end(), [](auto const& home) { return home->empty(); });
}

Loan Pool::lend(Tile* tile) noexcept {
  tile->use_own_memory();
  tile->forget_filled();
  tile->produced = 0;
  tile->sequence = 0;
  tile->tag = 0;
  return Loan(tile);
}

std::optional<Loan> Pool::try_borrow(std::size_t part) noexcept {
  if (waiters_.any_sleeps()) return std::nullopt;
  Tile* const tile = pop(part);
  if (tile == nullptr) return std::nullopt;
  count_.lend();
  return lend(tile);
}

Loan Pool::borrow(std::size_t part) {
  return std::move(*borrow(std::stop_token{}, part));
}

std::optional<Loan> Pool::borrow(std::stop_token const& stop, std::size_t part) {
  return borrow_until(never, stop, part);
}

std::optional<Loan> Pool::borrow(std::stop_token const& stop, std::size_t part, std::chrono::nanoseconds at_most) {
  return borrow_until(Clock::now() + at_most, stop, part);
}

std::optional<Loan> Pool::borrow_until(Clock::time_point end, std::stop_token const& stop, std::size_t part) {
  if (stop.stop_requested()) return std::nullopt;
  if (auto loan = try_borrow(part)) return loan;
  if (Tile* const tile = watch(end, stop, part)) return lend(tile);

  Borrower self(part);
  std::unique_lock lock(queue_mutex_);
  (last_ != nullptr ? last_->next : first_) = &self;
  last_ = &self;
  waiters_.add_sleeper();
  serve_waiting(all);  // A tile may have come home before we were counted, or been left to us while we watched.
  auto const given = [&] { return self.given != nullptr; };
  end == never ? self.arrived.wait(lock, stop, given) : self.arrived.wait_until(lock, stop, Clock::real(end), given);
  if (self.given != nullptr) {
    lock.unlock();
    serve_next();
    return lend(self.given);
  }

  unlink(self);
  return std::nullopt;
}

/// The caller holds queue_mutex_.
void Pool::unlink(Borrower& borrower) noexcept {
  Borrower** link = &first_;
  Borrower* before = nullptr;
  while (*link != &borrower) {
    before = *link;
    link = &before->next;
  }
  *link = borrower.next;
  if (last_ == &borrower) last_ = before;
  waiters_.remove_sleeper();
}

/// Waits for a tile awake, if no other thread does. Null, if there was none for `spin_`.
Tile* Pool::watch(Clock::time_point end, std::stop_token const& stop, std::size_t part) noexcept {
  if (spin_.count() <= 0 || !waiters_.begin_watch()) return nullptr;
  Tile* seen = nullptr;
  auto const start = Clock::now();
  for (auto now = start; seen == nullptr && now - start < spin_ && now < end && !stop.stop_requested();
       now = Clock::now()) {
    // A few pauses between looks at the clock, which costs about as much as one of them.
    for (int i = 0; i < 8 && (seen = pop(part)) == nullptr; ++i) relax_cpu();
  }
  waiters_.end_watch();
  if (seen == nullptr) return nullptr;
  count_.lend();
  serve_next();
  return seen;
}

/// Wakes one sleeper, if a tile is home that no thread watches for. Each thread that is woken wakes the next, so the
/// thread that brings tiles home has no need to.
void Pool::serve_next() {
  if (spin_.count() <= 0 || !waiters_.any_sleeps()) return;
  if (waiters_.one_watches() || none_home()) return;
  std::scoped_lock const lock(queue_mutex_);
  serve_waiting(1);
}

/// Hands free tiles to the waiters. The caller holds queue_mutex_.
void Pool::serve_waiting(std::size_t at_most) {
  for (; at_most > 0 && first_ != nullptr; --at_most) {
    Tile* const tile = pop(first_->part);
    if (tile == nullptr) return;
    give(*tile);
  }
}

/// The waiter that is to have the tile: the longest waiting, or the longest waiting of those that prefer its part. The
/// caller holds queue_mutex_, and a thread waits.
Pool::Borrower& Pool::next_for(Tile const& tile) const noexcept {
  if (first_->part == tile.pool_part() || first_->passed_over >= most_passes) return *first_;
  for (Borrower* borrower = first_->next; borrower != nullptr; borrower = borrower->next) {
    if (borrower->part != tile.pool_part()) continue;
    ++first_->passed_over;
    return *borrower;
  }
  return *first_;
}

/// Hands the tile to a waiter. The caller holds queue_mutex_, and a thread waits.
void Pool::give(Tile& tile) {
  Borrower& served = next_for(tile);
  unlink(served);
  overtakings_.store(0, std::memory_order_relaxed);
  count_.lend();
  served.given = &tile;
  served.arrived.notify_one();  // Under the lock: `served` may be gone the moment its thread sees `given`.
}

void Pool::take_back(Tile& tile) noexcept {
  /// The last access of this thread to the pool, which may be gone afterwards.
  struct CountedLast {
    LoanCount& count;
    ~CountedLast() { count.bring_home(); }
  } const counted_last{count_};
  if (tile.stranded_) {
    gone_.fetch_add(1, std::memory_order_relaxed);  // The release at the end publishes it.
    return;
  }
  if (tile.mark() != 0) tile.set_mark(0);  // One that was never submitted.
  tile.tell_memory_owner();                // No other thread can have the tile yet.
  if (spin_.count() > 0 && waiters_.some_may_sleep() &&
      overtakings_.fetch_add(1, std::memory_order_relaxed) >= most_overtakings) {
    std::scoped_lock const lock(queue_mutex_);
    // This bypasses the queue, where the watcher would be first.
    if (first_ != nullptr && may_be_lent(tile)) return give(tile);
  }
  home_of(tile).push(tile.index());
  if (waiters_.none_sleeps_behind_push() || waiters_.one_watches_behind_push()) return;
  std::scoped_lock const lock(queue_mutex_);
  serve_waiting(all);  // It serves none, if the watcher took the tile while we pushed it: that was overtaking, too.
}

Pool::Counts Pool::counts() const noexcept {
  std::size_t const lent = std::min(on_loan(), size());
  // Read after `on_loan`: a stranded tile whose loan dies meanwhile counts twice, and never as home.
  std::size_t const gone = gone_.load(std::memory_order_relaxed);
  std::size_t const home = size() - std::min(size(), lent + gone);
  return {.lent = lent, .home = home - std::min(home, kept()), .stranded = stranded()};
}

void Pool::open_reserve(bool open) noexcept {
  reserve_open_.store(open, std::memory_order_release);
  if (!open) return;
  // A watcher that is left a tile from now on sees the reserve open: its end of the watch reads what this writes.
  static_cast<void>(waiters_.one_watches_behind_push());
  std::scoped_lock const lock(queue_mutex_);
  serve_waiting(all);
}

void Loan::strand() noexcept {
  if (std::exchange(tile_->stranded_, true)) return;
  tile_->home().stranded_.fetch_add(1, std::memory_order_release);
}

void Loan::give_back() noexcept {
  if (Tile* const tile = std::exchange(tile_, nullptr)) tile->home().take_back(*tile);
}

}  // namespace penstock
