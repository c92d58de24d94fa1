// SPDX-License-Identifier: Apache-2.0
#include "tools/hash/check_list.hpp"

#include <span>
#include <stdexcept>
#include <utility>

#include "tools/hash/sum_line.hpp"

namespace penstock::cli {

CheckList::CheckList(std::vector<std::string> lists, OnProblem on_problem, std::stop_token stop)
    : lists_(std::move(lists)), on_problem_(std::move(on_problem)), stop_(std::move(stop)) {}

std::optional<WantedFile> CheckList::next() {
  while (list_ != nullptr || open_next()) {
    std::string line;
    try {
      if (!next_line(line)) {
        if (stop_.stop_requested()) return std::nullopt;
        list_ = nullptr;
        continue;
      }
    } catch (std::runtime_error const& problem) {
      // A directory, or a disk that fails halfway: what was not read must not count as verified.
      on_problem_(lists_[opened_ - 1], problem.what());
      list_ = nullptr;
      continue;
    }
    auto parsed = parse_sum_line(line);
    if (auto* const sum = std::get_if<ExpectedSum>(&parsed)) {
      return WantedFile{
          .path = std::move(sum->path), .problem = {}, .expected = std::move(sum->hex), .shown = std::move(sum->shown)};
    }
    on_problem_(lists_[opened_ - 1], "line " + std::to_string(line_) + ": " + std::get<std::string>(parsed));
  }
  return std::nullopt;
}

/// Goes on to the next list that can be opened; false if there is none.
bool CheckList::open_next() {
  while (opened_ < lists_.size()) {
    std::string const& path = lists_[opened_++];
    read_.clear();
    line_ = 0;
    try {
      list_ = std::make_unique<OpenFile>(path);
      return true;
    } catch (std::runtime_error const& problem) {
      on_problem_(path, problem.what());
    }
  }
  return false;
}

/// A line without its newline, which the last one need not have; false at the end, or once stop is requested.
bool CheckList::next_line(std::string& line) {
  std::size_t looked_at = 0;
  for (;;) {
    if (auto const newline = read_.find('\n', looked_at); newline != std::string::npos) {
      line = read_.substr(0, newline);
      read_.erase(0, newline + 1);
      ++line_;
      return true;
    }
    looked_at = read_.size();
    read_.resize(looked_at + 4096);  // A page: erasing lines from the front of it is cheap.
    std::size_t const got = list_->read_some(std::as_writable_bytes(std::span(read_).subspan(looked_at)), stop_);
    read_.resize(looked_at + got);
    if (got > 0) continue;
    if (read_.empty() || stop_.stop_requested()) return false;
    line = std::exchange(read_, {});
    ++line_;
    return true;
  }
}

}  // namespace penstock::cli
