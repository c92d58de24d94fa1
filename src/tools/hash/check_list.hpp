// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/file/open_file.hpp"
#include "tools/hash/hash_source.hpp"

namespace penstock::cli {

/// The files that check lists name, in their order.
///
/// Threads: one at a time.
class CheckList {
 public:
  /// Told of each list, and each line of one, that cannot be read; the rest is read all the same.
  using OnProblem = std::function<void(std::string const& list, std::string const& what)>;

  /// `-` among the lists is standard input.
  CheckList(std::vector<std::string> lists, OnProblem on_problem, std::stop_token stop);

  /// The next file; empty at the end, or once `stop` is requested.
  ///
  /// Blocks: until a list has a line, or `stop` is requested.
  std::optional<WantedFile> next();

 private:
  bool open_next();
  bool next_line(std::string& line);

  std::vector<std::string> const lists_;
  OnProblem const on_problem_;
  std::stop_token const stop_;
  std::size_t opened_ = 0;          ///< Lists so far, the current one among them.
  std::unique_ptr<OpenFile> list_;  ///< The current one; null between two.
  std::uint64_t line_ = 0;          ///< Lines of it that were handed out.
  std::string read_;                ///< What was read of it and is not yet handed out.
};

}  // namespace penstock::cli
