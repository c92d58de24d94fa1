// SPDX-License-Identifier: Apache-2.0
#include "lease/turn_watch.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "engine/core/say.hpp"

namespace penstock {
namespace {

/// True if a signal has stopped it.
bool is_stopped(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:")) return line.find_first_of("Tt", 6) == line.find_first_not_of(" \t", 6);
  }
  return false;
}

}  // namespace

pid_t find_lock_holder(std::istream& locks, dev_t device, ino_t file) {
  // "7: FLOCK  ADVISORY  WRITE 812 08:01:131 0 EOF". A process that waits for the lock has a line with an arrow behind
  // it.
  char number[64];
  std::snprintf(number, sizeof number, "%02x:%02x", major(device), minor(device));
  std::vector<pid_t> with_inode;
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string order, kind, manner, access, place;
    pid_t process = 0;
    if (!(words >> order >> kind >> manner >> access >> process >> place) || kind != "FLOCK") continue;
    std::size_t const colon = place.rfind(':');
    if (colon == std::string::npos || place.substr(colon + 1) != std::to_string(file)) continue;
    if (place.substr(0, colon) == number) return std::max(process, 0);
    with_inode.push_back(std::max(process, 0));
  }
  return with_inode.size() == 1 ? with_inode.front() : 0;
}

TurnWatch::TurnWatch(std::string ledger, int locks, std::chrono::nanoseconds patience)
    : ledger_(std::move(ledger)), locks_(locks), patience_(patience) {}

TurnWatch::~TurnWatch() = default;

void TurnWatch::begin() {
  std::lock_guard const lock(mutex_);
  is_waiting_ = true;
  is_told_ = false;
  since_ = std::chrono::steady_clock::now();
  if (!thread_.joinable()) {
    try {
      thread_ = std::jthread([this](std::stop_token const& stop) { work(stop); });
      pthread_setname_np(thread_.native_handle(), "ps-turn");
    } catch (std::system_error const&) {
      return;  // It waits all the same.
    }
  }
  // Once a patience at most: many waits are short.
  if (is_idle_) waits_.notify_one();
}

void TurnWatch::end() {
  std::lock_guard const lock(mutex_);
  is_waiting_ = false;
}

void TurnWatch::work(std::stop_token const& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    is_idle_ = true;
    waits_.wait(lock, stop, [&] { return is_waiting_; });
    is_idle_ = false;
    while (is_waiting_ && !stop.stop_requested()) {
      waits_.wait_for(lock, stop, patience_, [] { return false; });
      if (!is_waiting_ || is_told_ || std::chrono::steady_clock::now() - since_ < patience_) continue;
      is_told_ = true;
      lock.unlock();
      tell();
      lock.lock();
    }
  }
}

void TurnWatch::tell() const {
  struct stat status {};
  std::ifstream locks("/proc/locks");
  pid_t const process = fstat(locks_, &status) == 0 ? find_lock_holder(locks, status.st_dev, status.st_ino) : 0;
  if (process == 0)
    say("%s: this process waits for its turn on the ledger. The process that has the turn is not visible from here. "
        "Look "
        "for a stopped process that uses this ledger: ps -o pid,stat,args shows it as T. Continue it by kill -CONT, or "
        "end "
        "it.",
        ledger_.c_str());
  else if (is_stopped(process))
    say("%s: this process waits for its turn, which process %d has, and that is stopped. Continue it by kill -CONT %d, "
        "or "
        "end it.",
        ledger_.c_str(), process, process);
  else
    say("%s: this process waits for its turn, which process %d has. If that makes no progress, end it.",
        ledger_.c_str(), process);
}

}  // namespace penstock
