// SPDX-License-Identifier: Apache-2.0
#include "ingest/net/datagram_receiver.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <netinet/in.h>
#include <netinet/udp.h>

namespace penstock {

DatagramReceiver::DatagramReceiver(std::unique_ptr<DatagramSocket> socket, std::uint64_t number, std::size_t longest,
                                   DatagramSourceOptions const& options, Senders& senders)
    : socket_(std::move(socket)),
      number_(number),
      longest_(longest),
      coalesces_(options.coalesce),
      long_records_(options.long_records),
      step_(std::min<std::size_t>(longest, 2048)),
      behind_(std::make_unique_for_overwrite<std::byte[]>(most_at_once * longest)),
      control_(options.coalesce ? most_at_once * control_bytes : 0) {
  if (options.number_senders) senders_.emplace(senders);
}

std::chrono::microseconds DatagramReceiver::nap() noexcept {
  naps_now_ = true;
  return naps_.length();
}

bool DatagramReceiver::receive(Contents& contents) {
  if (std::exchange(naps_now_, false)) {
    auto const buffer = socket_->buffer();
    naps_.ended(buffer.held, buffer.room);
  }
  if (holds()) {
    place_held(contents);
    return true;
  }
  auto const room = contents.room();
  std::size_t const fit =
      std::min({room.size() / step_, contents.most_stretches - contents.stretches.size(), most_at_once});
  if (fit == 0) {
    contents.full = true;
    return true;
  }
  prepare(room, fit);
  int const got = recvmmsg(descriptor(), headers_.data(), static_cast<unsigned>(fit), MSG_DONTWAIT, nullptr);
  if (got <= 0) return false;
  place(contents, static_cast<std::size_t>(got));
  return static_cast<std::size_t>(got) == fit;
}

void DatagramReceiver::prepare(std::span<std::byte> room, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    places_[2 * k] = {room.data() + k * step_, step_};
    places_[2 * k + 1] = {behind_.get() + k * longest_, longest_ - step_};
    msghdr& header = headers_[k].msg_hdr;
    header.msg_iov = &places_[2 * k];
    header.msg_iovlen = step_ < longest_ ? 2 : 1;
    if (senders_) {
      header.msg_name = &addresses_[k];
      header.msg_namelen = sizeof addresses_[k];
    }
    if (!coalesces_) continue;
    header.msg_control = control_.data() + k * control_bytes;
    header.msg_controllen = control_bytes;
  }
}

DatagramReceiver::Message DatagramReceiver::message(std::size_t k) {
  msghdr& header = headers_[k].msg_hdr;
  Message got{headers_[k].msg_len, headers_[k].msg_len, number_};
  if (senders_) got.from = senders_->number_of(header.msg_name, header.msg_namelen);
  if (!coalesces_) return got;
  for (cmsghdr* one = CMSG_FIRSTHDR(&header); one != nullptr; one = CMSG_NXTHDR(&header, one)) {
    if (one->cmsg_level != SOL_UDP || one->cmsg_type != UDP_GRO) continue;
    int each = 0;
    std::memcpy(&each, CMSG_DATA(one), sizeof each);
    if (each > 0) got.each = std::min(got.bytes, static_cast<std::size_t>(each));
  }
  return got;
}

/// Packs the received messages in the tile without gaps.
void DatagramReceiver::place(Contents& contents, std::size_t count) {
  std::byte* const first = contents.room().data();
  std::size_t longest = 0;
  for (std::size_t k = 0; k < count; ++k) {
    Message const got = message(k);
    longest = std::max(longest, got.bytes);
    if ((headers_[k].msg_hdr.msg_flags & MSG_TRUNC) != 0) {
      bool const refuses = long_records_ == LongRecords::refuse;
      (refuses ? refused_ : truncated_).add(1);
      if (refuses) continue;
    }
    std::byte* const own = first + k * step_;
    std::byte* const to = contents.room().data();
    // The next message is still to be moved from behind its step. Earlier ones may have left room for a longer one.
    std::size_t const free = k + 1 == count ? contents.room().size() : static_cast<std::size_t>(own + step_ - to);
    bool const fits = got.bytes <= free && got.datagrams() <= contents.most_stretches - contents.stretches.size();
    if (!fits || !held_messages_.empty()) {
      hold(own, k, got);
      continue;
    }
    std::size_t const in_tile = std::min(got.bytes, step_);
    if (to != own) std::memmove(to, own, in_tile);
    if (in_tile < got.bytes) std::memcpy(to + in_tile, behind_.get() + k * longest_, got.bytes - in_tile);
    add(contents, got);
  }
  // The step shrinks slowly, since a datagram that is longer costs a copy.
  step_ = std::max({longest, step_ - step_ / 8, std::size_t{1}});
  if (!held_messages_.empty()) place_held(contents);
}

void DatagramReceiver::hold(std::byte const* first, std::size_t k, Message const& message) {
  std::size_t const in_tile = std::min(message.bytes, places_[2 * k].iov_len);
  held_.insert(held_.end(), first, first + in_tile);
  std::byte const* const behind = behind_.get() + k * longest_;
  held_.insert(held_.end(), behind, behind + (message.bytes - in_tile));
  held_messages_.push_back(message);
  waiting_.add(message.datagrams());
}

void DatagramReceiver::place_held(Contents& contents) {
  while (next_held_ < held_messages_.size()) {
    Message& next = held_messages_[next_held_];
    std::size_t const places = contents.most_stretches - contents.stretches.size();
    Message part = next;
    // A message may have more datagrams than an empty table has entries.
    if (next.datagrams() > places) part.bytes = places * next.each;
    if (places == 0 || part.bytes > contents.room().size()) {
      contents.full = true;
      return;
    }
    std::memcpy(contents.room().data(), held_.data() + held_at_, part.bytes);
    held_at_ += part.bytes;
    waiting_.take(part.datagrams());
    add(contents, part);
    next.bytes -= part.bytes;
    if (next.bytes == 0) ++next_held_;
  }
  held_.clear();
  held_messages_.clear();
  next_held_ = held_at_ = 0;
}

/// Adds the message in front of the room.
void DatagramReceiver::add(Contents& contents, Message const& message) {
  std::uint64_t const before = came_;
  std::size_t left = message.bytes;
  do {
    std::size_t const bytes = std::min(left, message.each);
    contents.add_apart(message.from, came_++, bytes);
    left -= bytes;
  } while (left > 0);
  datagrams_.add(came_ - before);
  bytes_.add(message.bytes);
}

void DatagramReceiver::count_to(DatagramCounts& counts) const noexcept {
  counts.datagrams += datagrams_.now();
  counts.bytes += bytes_.now();
  counts.loss.refused += refused_.now();
  counts.loss.truncated += truncated_.now();
  counts.dropped += socket_->dropped();
  counts.waiting += waiting_.now();
}

}  // namespace penstock
