// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/followed_file.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include <unistd.h>

#include "engine/core/failure_text.hpp"
#include "ingest/decoding/compression.hpp"

namespace penstock {
namespace {

/// A longer linger would exceed the range of the clock.
constexpr std::chrono::hours longest_linger{24 * 365};

std::size_t read_at(int descriptor, std::uint64_t offset, std::span<std::byte> to) {
  for (;;) {
    ssize_t const got = pread(descriptor, to.data(), to.size(), static_cast<off_t>(offset));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) throw FileProblem(system_problem(errno));
  }
}

}  // namespace

FollowedFile::FollowedFile(InputFile const& input, std::uint64_t number, FileSourceOptions const& options,
                           std::size_t tile_bytes, ChangeWatch& watch, std::function<void()> look_for_changes)
    : name_(input.path),
      number_(number),
      options_(options),
      tile_bytes_(tile_bytes),
      files_(input.path, number, watch, std::move(look_for_changes)) {}

void FollowedFile::look() {
  // Later changes are reported again.
  if (!std::exchange(changed_, false)) return;
  files_.look(now_ != nullptr && now_->size() <= position_);
  if (now_ == nullptr) {
    now_ = files_.now();
    if (now_ == nullptr) return;
    begin_generation();
  }
  ending_ = files_.has_next();
  std::uint64_t const before = std::exchange(size_, now_->size());
  removed_ = size_ < before && position_ < before ? before - position_ : 0;
  if (size_ < position_) begin_again();
  if (size_ > position_ && !since_) since_ = Clock::now();
}

void FollowedFile::begin_generation() {
  position_ = 0;
  seen_ = {};
  since_.reset();
  if (cutter_) loss_ += cutter_->loss();
  cutter_.reset();
  cut_ = nullptr;
  known_plain_ = !options_.decompress;
  if (options_.framing != nullptr && options_.framing->head_bytes() == 0 && !options_.text)
    cut_by({options_.framing, 0});
}

/// Restarts after the file was truncated.
void FollowedFile::begin_again() {
  ++truncations_;
  if (std::uint64_t const cut = std::exchange(removed_, 0) + (cutter_ ? cutter_->held() : 0); cut != 0) {
    ++cut_truncations_;
    cut_bytes_ += cut;
  }
  ++generation_;
  std::uint64_t const unfinished = loss().unfinished;
  if (cutter_) cutter_->break_off();
  cut_records_ += loss().unfinished - unfinished;
  begin_generation();
  changed_ = true;
}

/// Checks whether this file is compressed, if its first bytes must tell; false if they are not all there.
///
/// Throws: FileProblem, if it is.
bool FollowedFile::is_plain() {
  if (known_plain_) return true;
  std::array<std::byte, input_magic_bytes> first{};
  std::size_t const got = read_at(now_->descriptor(), 0, first);
  auto const compression = compression_of(std::span(first).first(got), ending_);
  if (!compression) return false;
  if (*compression != Compression::none) {
    std::string const why = why_not_decoded(*compression);
    throw FileProblem(!why.empty() ? why
                                   : std::string("it is compressed by ") + name_of(*compression) +
                                         ", and a file that is followed is not decoded: read it without following it");
  }
  return known_plain_ = true;
}

void FollowedFile::cut_by(Framing::OfInput const& of, bool ends_by_cr) {
  cut_ = std::make_shared<InputCut>(of, CutOptions{tile_bytes_, options_.long_records, options_.overlap, ends_by_cr});
  cutter_.emplace(of.framing, options_.long_records);
  cutter_->restart(of.head);
  position_ = of.head;
}

/// Reads the framing of this file, if its first bytes determine it; false if they are not all there.
bool FollowedFile::begin_records() {
  if (options_.framing == nullptr || cutter_) return true;
  std::size_t const most = options_.text ? std::min(text_head_bytes, tile_bytes_) : options_.framing->head_bytes();
  std::vector<std::byte> first(most);
  first.resize(read_at(now_->descriptor(), 0, first));
  bool const all = first.size() == most || ending_;
  if (options_.text) {
    auto const head = text_head_of(first, all);
    if (head) cut_by({head->ends_by_cr ? delimited_by("\r") : options_.framing, head->mark}, head->ends_by_cr);
    return head.has_value();
  }
  if (!all) return false;
  if (first.empty()) return true;
  cut_by(options_.framing->of_input(first));
  return true;
}

std::optional<FollowedFile::Clock::time_point> FollowedFile::due() const {
  if (now_ == nullptr) return std::nullopt;
  if (ending_) return Clock::time_point::min();
  if (size_ <= position_ || !since_) return std::nullopt;
  if (size_ - position_ >= tile_bytes_ - (cutter_ ? cutter_->held() : 0)) return Clock::time_point::min();
  if (!options_.linger) return std::nullopt;
  return *since_ + std::min<std::chrono::microseconds>(*options_.linger, longest_linger);
}

std::optional<FollowedFile::Next> FollowedFile::read(std::span<std::byte> tile) try {
  since_.reset();
  if (!is_plain() || !begin_records()) return std::nullopt;
  std::size_t const held = cutter_ ? cutter_->held() : 0;
  std::size_t const got = read_at(now_->descriptor(), position_, tile.subspan(held));
  // A truncated file may have grown beyond the position by now; bytes read then do not begin with a record.
  auto const from_file = [this](std::uint64_t offset, std::span<std::byte> to) {
    return read_at(now_->descriptor(), offset, to);
  };
  if (got != 0 && !seen_.are_there(from_file)) {
    begin_again();
    return std::nullopt;
  }
  seen_.add(position_, tile.subspan(held, got));
  Next next{{number_, position_, generation_}, got, cut_, {}};
  position_ += got;
  // Another look follows, since the state is not known yet.
  if (got != 0 || ending_) changed_ = true;
  bool const ended = ending_ && got == 0;
  if (cutter_) {
    auto const cut = cutter_->take(tile, got, ended, tile.size());
    next.bytes = cut.ready ? cut.bytes : 0;
    next.place.offset = cutter_->offset();
    next.records = cutter_->take_records();
  }
  if (ended && !(cutter_ && cutter_->holds_rest())) {
    ++generation_;
    files_.drop_first();
    now_ = files_.now();
    ending_ = false;
    begin_generation();
  }
  if (next.bytes == 0) return std::nullopt;
  return next;
} catch (FileProblem const&) {
  throw;
} catch (Error const& error) {
  throw FileProblem(error.what());
}

void FollowedFile::give_up() noexcept {
  if (cutter_) cutter_->break_off();
  now_ = nullptr;
  files_.give_up();
}

RecordLoss FollowedFile::loss() const {
  RecordLoss all = loss_;
  if (cutter_) all += cutter_->loss();
  return all;
}

}  // namespace penstock
