// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/deferred_files.hpp"

#include <utility>

namespace penstock::cli {

void DeferredFiles::group_began() {
  std::scoped_lock const lock(mutex_);
  ++groups_;
}

void DeferredFiles::group_ended() noexcept {
  {
    std::scoped_lock const lock(mutex_);
    --groups_;
  }
  changed_.notify_all();
}

bool DeferredFiles::put(std::uint64_t number, InputFile input) {
  {
    std::scoped_lock const lock(mutex_);
    if (closed_) return false;
    files_.emplace(number, std::move(input));
  }
  changed_.notify_all();
  return true;
}

bool DeferredFiles::empty() const {
  std::scoped_lock const lock(mutex_);
  return files_.empty();
}

std::optional<DeferredFiles::Deferred> DeferredFiles::take() {
  std::scoped_lock const lock(mutex_);
  return take_locked();
}

std::optional<DeferredFiles::Deferred> DeferredFiles::wait(std::stop_token const& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, stop, [this] { return !files_.empty() || groups_ == 0; });
  return stop.stop_requested() ? std::nullopt : take_locked();
}

std::vector<std::uint64_t> DeferredFiles::close() {
  std::scoped_lock const lock(mutex_);
  closed_ = true;
  std::vector<std::uint64_t> left;
  left.reserve(files_.size());
  for (auto const& [number, input] : files_) left.push_back(number);
  files_.clear();
  return left;
}

std::optional<DeferredFiles::Deferred> DeferredFiles::take_locked() {
  if (files_.empty()) return std::nullopt;
  auto first = files_.extract(files_.begin());
  return Deferred{first.key(), std::move(first.mapped())};
}

}  // namespace penstock::cli
