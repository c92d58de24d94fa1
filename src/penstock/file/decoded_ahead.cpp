// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/decoded_ahead.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace penstock {

/// Memory that units are decoded to.
struct DecodedAhead::Room {
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size = 0;
};

struct DecodedAhead::Unit {
  Member members;  ///< All of them.
  enum class State { idle, begun, decoded } state = State::idle;
  Room room = {};
  std::size_t bytes = 0;                    ///< That were decoded.
  std::optional<FileProblem> problem = {};  ///< What is behind them.
};

DecodedAhead::DecodedAhead(std::shared_ptr<OpenFile> file, Compression compression, std::size_t unit_bytes)
    : file_(std::move(file)), compression_(compression), unit_bytes_(unit_bytes) {}

DecodedAhead::~DecodedAhead() = default;

ByteStream::Gathered DecodedAhead::gather(std::span<std::byte> to, std::optional<std::chrono::microseconds> linger,
                                          std::stop_token const& stop) {
  std::size_t got = 0;
  try {
    if (problem_) throw FileProblem(*problem_);
    while (got < to.size() && !stop.stop_requested()) {
      if (rest_) {
        auto const more = rest_->gather(to.subspan(got), linger, stop);
        return {got + more.bytes, more.ended};
      }
      auto const unit = front(stop);
      if (unit == nullptr) {
        if (stop.stop_requested() || next_ == file_->size()) return {got, true};
        rest_.emplace(file_, compression_, next_);
        continue;
      }
      std::size_t const bytes = std::min(to.size() - got, unit->bytes - read_);
      if (bytes > 0) std::memcpy(to.data() + got, unit->room.bytes.get() + read_, bytes);
      got += bytes;
      read_ += bytes;
      if (read_ < unit->bytes) continue;
      if (unit->problem) throw FileProblem(*unit->problem);
      drop_front();
    }
    std::scoped_lock const lock(mutex_);
    bool const all = units_.empty() && next_ == file_->size();
    return {got, all || stop.stop_requested()};
  } catch (FileProblem const& problem) {
    problem_ = problem;
    if (got == 0) throw;
  }
  return {got, false};
}

void DecodedAhead::help(std::stop_token const& stop) {
  std::unique_lock lock(mutex_);
  helpers_.insert(std::this_thread::get_id());
  if (begun_ > helpers_.size()) return;
  auto const unit = find_idle();
  if (unit == nullptr || begun_bytes_ + unit->members.most > most_bytes) return;
  unit->state = Unit::State::begun;
  ++begun_;
  begun_bytes_ += unit->members.most;
  ++helped_;
  lock.unlock();
  decode(*unit, stop);
}

std::uint64_t DecodedAhead::helped() const {
  std::scoped_lock const lock(mutex_);
  return helped_;
}

/// Finds the unit behind all others, and adds it to them.
std::shared_ptr<DecodedAhead::Unit> DecodedAhead::find_unit() {
  auto const read = [this](std::uint64_t offset, std::span<std::byte> to) { return file_->read_at(offset, to); };
  auto const unit = std::make_shared<Unit>(Unit{{next_, next_, 0}});
  while (!found_all_ && unit->members.most < unit_bytes_) {
    std::optional<Member> member;
    try {
      if (next_ < file_->size()) member = find_member(compression_, read, next_, file_->size(), most_unit_bytes);
    } catch (FileProblem const&) {
      // Who reads what is there comes to the same problem, in its place.
    }
    if (!member) {
      found_all_ = true;
    } else if (unit->members.most + member->most > std::max(most_unit_bytes, unit_bytes_)) {
      break;
    } else {
      unit->members.end = next_ = member->end;
      unit->members.most += member->most;
    }
  }
  if (unit->members.begin == unit->members.end) return nullptr;
  units_.push_back(unit);
  return unit;
}

/// The first unit that no thread has begun; null, if there is none.
std::shared_ptr<DecodedAhead::Unit> DecodedAhead::find_idle() {
  auto const idle = std::ranges::find(units_, Unit::State::idle, [](auto const& unit) { return unit->state; });
  return idle != units_.end() ? *idle : find_unit();
}

/// The unit that comes next, decoded; null, if there is none, or a stop is requested.
std::shared_ptr<DecodedAhead::Unit> DecodedAhead::front(std::stop_token const& stop) {
  std::unique_lock lock(mutex_);
  auto const unit = units_.empty() ? find_unit() : units_.front();
  if (unit == nullptr) return nullptr;
  if (unit->state == Unit::State::idle) {
    unit->state = Unit::State::begun;
    ++begun_;
    begun_bytes_ += unit->members.most;
    lock.unlock();
    decode(*unit, stop);
    lock.lock();
  }
  bool const decoded = decoded_.wait(lock, stop, [&] { return unit->state == Unit::State::decoded; });
  return decoded && !stop.stop_requested() ? unit : nullptr;
}

void DecodedAhead::drop_front() {
  std::scoped_lock const lock(mutex_);
  auto const unit = std::move(units_.front());
  units_.pop_front();
  read_ = 0;
  --begun_;
  begun_bytes_ -= unit->members.most;
  idle_rooms_.push_back(std::move(unit->room));
}

/// Decodes a unit that was begun.
void DecodedAhead::decode(Unit& unit, std::stop_token const& stop) {
  std::unique_ptr<Decoder> decoder;
  {
    std::scoped_lock const lock(mutex_);
    if (!idle_decoders_.empty()) {
      decoder = std::move(idle_decoders_.back());
      idle_decoders_.pop_back();
    }
    if (!idle_rooms_.empty()) {
      unit.room = std::move(idle_rooms_.back());
      idle_rooms_.pop_back();
    }
  }
  try {
    auto const most = static_cast<std::size_t>(unit.members.most);
    if (unit.room.size < most) unit.room = {std::make_unique_for_overwrite<std::byte[]>(most), most};
    if (decoder == nullptr) decoder = std::make_unique<Decoder>(compression_);
    decoder->restart(unit.members.begin);
    decode_members(unit, *decoder, stop);
  } catch (FileProblem const& problem) {
    unit.problem = problem;
  } catch (Error const& error) {
    unit.problem = problem_of_decoding(*file_, error);
  } catch (std::bad_alloc const&) {
    unit.problem = FileProblem("there is no memory left to decode it with; free some");
  }
  std::scoped_lock const lock(mutex_);
  if (decoder != nullptr) idle_decoders_.push_back(std::move(decoder));
  unit.state = Unit::State::decoded;
  decoded_.notify_all();
}

void DecodedAhead::decode_members(Unit& unit, Decoder& decoder, std::stop_token const& stop) const {
  std::vector<std::byte> read(static_cast<std::size_t>(
      std::min<std::uint64_t>(DecodedStream::read_bytes, unit.members.end - unit.members.begin)));
  // One byte of room behind what they say shows that they say too little.
  std::byte too_much{};
  std::uint64_t at = unit.members.begin;
  while (at < unit.members.end && !stop.stop_requested()) {
    auto const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(read.size(), unit.members.end - at));
    std::size_t const held = file_->read_at(at, std::span(read).first(wanted));
    if (held == 0) break;
    at += held;
    for (std::span<std::byte const> from = std::span(read).first(held);;) {
      std::span const room(unit.room.bytes.get() + unit.bytes,
                           static_cast<std::size_t>(unit.members.most) - unit.bytes);
      auto const step = decoder.decode(from, room.empty() ? std::span(&too_much, 1) : room);
      from = from.subspan(step.taken);
      if (room.empty() && step.given > 0) {
        throw Error(ErrorKind::bad_argument, "its data at byte " + std::to_string(unit.members.begin) +
                                                 " decode to more than they say: copy it or make it again");
      }
      unit.bytes += step.given;
      if (step.none()) break;
    }
  }
  if (!stop.stop_requested()) decoder.expect_border();
}

}  // namespace penstock
