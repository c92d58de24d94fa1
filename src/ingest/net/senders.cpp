// SPDX-License-Identifier: Apache-2.0
#include "ingest/net/senders.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "engine/machine/net_address.hpp"

namespace penstock {

std::uint64_t Senders::number_of(std::string const& address) {
  std::scoped_lock const lock(mutex_);
  if (auto const found = numbers_.find(address); found != numbers_.end()) return found->second;
  if (addresses_.size() == most) return DatagramSource::unknown_sender;
  addresses_.push_back(address);
  return numbers_[address] = addresses_.size() - 1;
}

std::string Senders::text(std::uint64_t number) const {
  std::scoped_lock const lock(mutex_);
  if (number >= addresses_.size()) return {};
  NetAddress address;
  address.bytes = static_cast<socklen_t>(std::min(addresses_[number].size(), sizeof address.storage));
  std::memcpy(&address.storage, addresses_[number].data(), address.bytes);
  return "udp:" + text_of(address);
}

std::uint64_t KnownSenders::number_of(void const* address, std::size_t bytes) {
  std::string_view const text(static_cast<char const*>(address), bytes);
  if (text == last_) return last_number_;
  last_ = text;
  if (auto const found = known_.find(last_); found != known_.end()) return last_number_ = found->second;
  last_number_ = all_.number_of(last_);
  // An address without a number would be stored in vain.
  if (last_number_ != DatagramSource::unknown_sender) known_[last_] = last_number_;
  return last_number_;
}

}  // namespace penstock
