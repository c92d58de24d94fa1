// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "chaos/draw.hpp"

namespace penstock::chaos {

/// One seed of one scenario: what is drawn from it, and what was found wrong.
///
/// Threads: any, but for `draw`.
class Case {
 public:
  Case(std::string scenario, std::uint64_t seed) : draw(seed), scenario_(std::move(scenario)), seed_(seed) {}

  Draw draw;

  /// Draws a number from `least` to `most` and tells it.
  std::uint64_t pick(char const* what, std::uint64_t least, std::uint64_t most) {
    std::uint64_t const number = draw.between(least, most);
    tell(what, number);
    return number;
  }
  /// Returns true once in so many seeds; tells it if so.
  bool once_in(std::uint64_t many, char const* what) {
    bool const is = draw.one_in(many);
    if (is) tell(what, 1);
    return is;
  }
  void tell(char const* what, std::uint64_t number) {
    std::scoped_lock const lock(mutex_);
    options_ += std::string(options_.empty() ? "" : " ") + what + '=' + std::to_string(number);
  }
  void expect(bool is, std::string const& what) {
    checks_.fetch_add(1);
    if (is) return;
    std::scoped_lock const lock(mutex_);
    if (findings_.size() < most_findings) findings_.push_back(what);
  }

  /// Adds to the digest, which is made of what happened, in its order.
  void note(std::uint64_t what) {
    std::scoped_lock const lock(mutex_);
    digest_ = Draw(digest_ ^ what).next();
  }

  std::string const& scenario() const noexcept { return scenario_; }
  std::uint64_t seed() const noexcept { return seed_; }
  /// Number of expectations so far: it grows with each completion.
  std::uint64_t checks() const noexcept { return checks_.load(); }
  std::uint64_t digest() {
    std::scoped_lock const lock(mutex_);
    return digest_;
  }
  std::string options() {
    std::scoped_lock const lock(mutex_);
    return options_;
  }
  std::vector<std::string> findings() {
    std::scoped_lock const lock(mutex_);
    return findings_;
  }

 private:
  static constexpr std::size_t most_findings = 8;

  std::string const scenario_;
  std::uint64_t const seed_;
  std::atomic<std::uint64_t> checks_{0};
  std::mutex mutex_;
  std::uint64_t digest_ = 0;
  std::string options_;
  std::vector<std::string> findings_;
};

/// Byte that the scenarios write for a tag, at place `at`.
inline std::byte content_byte(std::uint64_t tag, std::size_t at) noexcept {
  return static_cast<std::byte>(tag * 31 + at * 7 + 1);
}
inline void write_content(std::uint64_t tag, std::span<std::byte> to) noexcept {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = content_byte(tag, i);
}
/// True if each byte is the content of the tag plus `added`.
inline bool has_content(std::uint64_t tag, std::span<std::byte const> bytes, unsigned added) noexcept {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != static_cast<std::byte>(std::to_integer<unsigned>(content_byte(tag, i)) + added)) return false;
  }
  return true;
}

// The scenarios; each is over before it returns, and checks all that it can.
void run_pipelines(Case& the_case);
void run_faulty_pipelines(Case& the_case);
void run_records(Case& the_case);
void run_files(Case& the_case);
void run_pools(Case& the_case);
void run_rundowns(Case& the_case);

}  // namespace penstock::chaos
