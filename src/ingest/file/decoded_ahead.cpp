// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/decoded_ahead.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

namespace penstock {

/// Memory for the decoded bytes of units.
struct DecodedAhead::Room {
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size = 0;
};

struct DecodedAhead::Unit {
  Member members;                      ///< All of its members as one.
  std::optional<FramePart> part = {};  ///< A part, instead of members.
  enum class State { idle, begun, decoded } state = State::idle;
  Room room = {};
  std::size_t bytes = 0;                    ///< Number of decoded bytes.
  std::optional<FileProblem> problem = {};  ///< Problem behind these bytes.
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
        if (problem_of_parts_) throw FileProblem(*problem_of_parts_);
        rest_.emplace(file_, compression_, next_);
        continue;
      }
      std::size_t const bytes = std::min(to.size() - got, unit->bytes - read_);
      if (bytes > 0) std::memcpy(to.data() + got, unit->room.bytes.get() + read_, bytes);
      if (unit->part) note(*unit->part, to.subspan(got, bytes));
      got += bytes;
      read_ += bytes;
      if (read_ < unit->bytes) continue;
      if (unit->problem) throw FileProblem(*unit->problem);
      if (unit->part) expect_frame(*unit->part);
      drop_front();
    }
    std::scoped_lock const lock(mutex_);
    bool const all = units_.empty() && !parts_ && next_ == file_->size();
    return {got, all || stop.stop_requested()};
  } catch (FileProblem const& problem) {
    problem_ = problem;
    if (got == 0) throw;
  }
  return {got, false};
}

/// Adds bytes of a part that were read to the frame's checksum.
void DecodedAhead::note(FramePart const& part, std::span<std::byte const> bytes) {
  if (part.first && read_ == 0) {
    frame_hash_ = {};
    frame_bytes_ = 0;
  }
  frame_bytes_ += bytes.size();
  if (part.has_checksum) frame_hash_.add(bytes);
}

/// Checks the data read against the frame's statements, if the frame ends with this part.
void DecodedAhead::expect_frame(FramePart const& part) const {
  bool const other_size = part.bytes && *part.bytes != frame_bytes_;
  if (!other_size && (!part.checksum || *part.checksum == frame_hash_.value())) return;
  throw problem_of_decoding(
      *file_,
      Error(ErrorKind::bad_argument,
            "its lz4 data in front of byte " + std::to_string(part.end) + " are not what was compressed (" +
                (other_size ? "the size is another" : "the checksum is another") + "): copy it or make it again"));
}

void DecodedAhead::help(std::stop_token const& stop) {
  std::unique_lock lock(mutex_);
  helpers_.insert(std::this_thread::get_id());
  if (begun_ > helpers_.size()) return;
  auto const unit = find_idle(stop);
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

/// The member at the beginning of the next unit; nothing if there is none of a size to be decoded whole.
std::optional<Member> DecodedAhead::find_next_member() const {
  auto const read = [this](std::uint64_t offset, std::span<std::byte> to) { return file_->read_at(offset, to); };
  if (next_ == file_->size()) return std::nullopt;
  return find_member(compression_, read, next_, file_->size(), most_unit_bytes);
}

/// Finds the unit behind all others, and adds it to them. Members that decode to nothing do not make it longer.
std::shared_ptr<DecodedAhead::Unit> DecodedAhead::find_unit(std::stop_token const& stop) {
  auto unit = std::make_shared<Unit>(Unit{{next_, next_, 0}});
  try {
    if (auto part = find_part()) {
      units_.push_back(part);
      return part;
    }
    Member const& all = unit->members;
    while (!found_all_ && all.most < unit_bytes_ && all.end - all.begin < unit_bytes_ && !stop.stop_requested()) {
      auto const member = find_next_member();
      if (!member) {
        found_all_ = true;
      } else if (unit->members.begin != unit->members.end && unit->members.most + member->most > 2 * unit_bytes_) {
        break;
      } else {
        unit->members.end = next_ = member->end;
        unit->members.most += member->most;
      }
    }
  } catch (FileProblem const& problem) {
    // The thread that reads will meet the same problem at its place; within a frame none can begin.
    found_all_ = true;
    if (parts_) problem_of_parts_ = problem;
  }
  if (unit->members.begin == unit->members.end) return nullptr;
  units_.push_back(unit);
  return unit;
}

/// A unit of blocks of a frame of lz4 that is better decoded in parts; null if none begins at `next_`.
std::shared_ptr<DecodedAhead::Unit> DecodedAhead::find_part() {
  auto const read = [this](std::uint64_t offset, std::span<std::byte> to) { return file_->read_at(offset, to); };
  if (compression_ != Compression::lz4 || found_all_ || (!parts_ && next_ == file_->size())) return nullptr;
  if (!parts_ && !find_member(compression_, read, next_, file_->size(), 2 * unit_bytes_)) {
    parts_ = Lz4Parts::of(read, next_, file_->size());
  }
  if (!parts_) return nullptr;
  FramePart part = parts_->next(read, unit_bytes_);
  next_ = parts_->at();
  if (parts_->ended()) parts_ = std::nullopt;
  return std::make_shared<Unit>(Unit{{part.begin, part.end, part.most}, std::move(part)});
}

/// The first unit that no thread has begun; null if there is none.
std::shared_ptr<DecodedAhead::Unit> DecodedAhead::find_idle(std::stop_token const& stop) {
  auto const idle = std::ranges::find(units_, Unit::State::idle, [](auto const& unit) { return unit->state; });
  return idle != units_.end() ? *idle : find_unit(stop);
}

/// The next unit, decoded; null if there is none, or a stop is requested.
std::shared_ptr<DecodedAhead::Unit> DecodedAhead::front(std::stop_token const& stop) {
  std::unique_lock lock(mutex_);
  auto const unit = units_.empty() ? find_unit(stop) : units_.front();
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
  // Keeps no more memory than units of the usual size need.
  if (unit->room.size <= 2 * unit_bytes_) idle_rooms_.push_back(std::move(unit->room));
}

/// Decodes a unit.
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
    decoder->restart(unit.members.begin - (unit.part ? unit.part->before.size() : 0));
    decode_members(unit, *decoder, stop);
  } catch (FileProblem const& problem) {
    unit.problem = problem;
  } catch (Error const& error) {
    unit.problem = problem_of_decoding(*file_, error);
  } catch (std::bad_alloc const&) {
    unit.problem = FileProblem("there is no memory left to decode it with; free some");
  } catch (std::exception const& error) {
    unit.problem = FileProblem(error.what());
  }
  std::scoped_lock const lock(mutex_);
  // Done first: another thread may wait for it.
  unit.state = Unit::State::decoded;
  decoded_.notify_all();
  if (decoder != nullptr) idle_decoders_.push_back(std::move(decoder));
}

void DecodedAhead::decode_members(Unit& unit, Decoder& decoder, std::stop_token const& stop) const {
  // One byte of room behind the stated size shows that the statement is too small.
  std::byte too_much{};
  auto const feed = [&](std::span<std::byte const> from) {
    for (;;) {
      std::span const room(unit.room.bytes.get() + unit.bytes,
                           static_cast<std::size_t>(unit.members.most) - unit.bytes);
      auto const step = decoder.decode(from, room.empty() ? std::span(&too_much, 1) : room);
      from = from.subspan(step.taken);
      if (room.empty() && step.given > 0) {
        throw Error(ErrorKind::bad_argument, "its data at byte " + std::to_string(unit.members.begin) +
                                                 " decode to more than they say: copy it or make it again");
      }
      unit.bytes += step.given;
      if (step.none()) return;
    }
  };
  std::vector<std::byte> read(static_cast<std::size_t>(
      std::min<std::uint64_t>(DecodedStream::read_bytes, unit.members.end - unit.members.begin)));
  if (unit.part) feed(std::as_bytes(std::span(unit.part->before)));
  for (std::uint64_t at = unit.members.begin; at < unit.members.end && !stop.stop_requested();) {
    auto const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(read.size(), unit.members.end - at));
    std::size_t const held = file_->read_at(at, std::span(read).first(wanted));
    if (held == 0) break;
    at += held;
    feed(std::span(read).first(held));
  }
  if (unit.part) feed(std::as_bytes(std::span(unit.part->behind)));
  if (!stop.stop_requested()) decoder.expect_border();
}

}  // namespace penstock
