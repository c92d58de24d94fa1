// SPDX-License-Identifier: Apache-2.0
#include "ingest/decoding/decoder.hpp"

#include <algorithm>
#include <utility>

namespace penstock {
namespace {

std::unique_ptr<MemberDecoder> decoder_of(Compression compression, std::string const& library) {
  switch (compression) {
    case Compression::gzip:
      return gzip_decoder(library);
    case Compression::zstd:
      return zstd_decoder(library);
    case Compression::lz4:
      return lz4_decoder(library);
    case Compression::skippable:
      return skippable_decoder();
    default:
      break;
  }
  if (compression != Compression::none) throw Error(ErrorKind::unsupported, why_not_decoded(compression));
  throw Error(ErrorKind::bad_argument, "What is not compressed cannot be decoded: read it as it is.");
}

}  // namespace

Decoder::Decoder(Compression compression, std::uint64_t offset, std::string const& library)
    : compression_(compression), library_(library), member_(decoder_of(compression, library)), offset_(offset) {}

void Decoder::restart(std::uint64_t offset) {
  member_->restart();
  offset_ = offset;
  problem_.clear();
  padded_ = false;
  holds_more_ = false;
  head_bytes_ = 0;
}

/// Checks whether a member of the input's format can begin with these bytes.
void Decoder::look(std::span<std::byte const> from) {
  if (head_bytes_ == magic_bytes || (offset_ == head_bytes_ && compression_ != Compression::skippable)) return;
  auto head = head_;
  std::size_t const more = std::min(from.size(), magic_bytes - head_bytes_);
  std::copy_n(from.begin(), more, head.begin() + static_cast<std::ptrdiff_t>(head_bytes_));
  auto const known = std::span<std::byte const>(head).first(head_bytes_ + more);
  if (!padded_ && may_begin_member(compression_, known)) {
    if (compression_ == Compression::skippable && known.size() == magic_bytes && !begins_skippable(known))
      settle(known);
    return;
  }
  std::string const where = std::to_string(offset_ - head_bytes_);
  Compression const other = compression_of(known, false).value_or(Compression::none);
  problem_ = std::string("its ") + name_of(compression_) + " data end at byte " + where + ", and other bytes follow";
  problem_ += padded_ || other == Compression::none
                  ? ": copy it again, or cut it off there, `head -c " + where + "`"
                  : std::string(" that are compressed by ") + name_of(other) +
                        ": decode both parts by their programs, and give what these print as standard input";
}

/// Skippable frames came first: this member determines the compression of the input.
void Decoder::settle(std::span<std::byte const> head) {
  compression_ = *compression_of(head, true);
  member_ = decoder_of(compression_, library_);
  // The new decoder gets the bytes that were already taken.
  if (head_bytes_ > 0) member_->decode(std::span<std::byte const>(head_).first(head_bytes_), {});
}

/// Number of these bytes that are zeros behind the last member of gzip.
std::size_t Decoder::pass_zeros(std::span<std::byte const> from) {
  if (compression_ != Compression::gzip || head_bytes_ != 0 || offset_ == 0) return 0;
  auto const end = std::ranges::find_if(from, [](std::byte one) { return one != std::byte{0}; });
  auto const zeros = static_cast<std::size_t>(end - from.begin());
  padded_ = padded_ || zeros != 0;
  offset_ += zeros;
  return zeros;
}

Decoder::Step Decoder::decode(std::span<std::byte const> from, std::span<std::byte> to) {
  if (problem_.empty() && !to.empty()) {
    if (std::size_t const zeros = pass_zeros(from); zeros != 0) return {zeros, 0};
    if (!from.empty() || holds_more_) look(from);
  }
  if (!problem_.empty()) throw Error(ErrorKind::bad_argument, problem_);
  if (to.empty() || (from.empty() && !holds_more_)) return {};
  auto step = member_->decode(from, to);
  if (step.taken + step.given == 0 && !step.ended && !from.empty() && step.problem.empty())
    step.problem = "no progress";
  offset_ += step.taken;
  holds_more_ = step.given == to.size();
  std::size_t const more = std::min(step.taken, magic_bytes - head_bytes_);
  std::copy_n(from.begin(), more, head_.begin() + static_cast<std::ptrdiff_t>(head_bytes_));
  head_bytes_ += more;
  if (!step.problem.empty()) {
    problem_ = std::string("its ") + name_of(compression_) + " data cannot be decoded behind byte " +
               std::to_string(offset_) + " (" + step.problem + "): " + step.remedy;
    if (step.given == 0) throw Error(ErrorKind::bad_argument, problem_);
  } else if (step.ended) {
    member_->restart();
    holds_more_ = false;
    head_bytes_ = 0;
  }
  return {step.taken, step.given};
}

void Decoder::expect_border() const {
  if (at_border()) return;
  throw Error(ErrorKind::bad_argument, "it ends at byte " + std::to_string(offset_) + ", within its " +
                                           name_of(compression_) + " data: it was cut short; copy it or make it again");
}

}  // namespace penstock
