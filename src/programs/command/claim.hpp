// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace penstock::cli {

/// A condition on a figure, as `--expect` takes it: "overlap > 0.6".
class Claim {
 public:
  /// Shape:  one of `figures`, one of > >= < <=, and a number; `example` is one, for the error.
  /// Throws: Error of kind bad_argument.
  Claim(std::string const& text, std::span<std::string_view const> figures, std::string_view example);

  std::string const& figure() const noexcept { return figure_; }
  bool holds(double value) const noexcept;
  /// "--expect 'overlap > 0.6' does not hold".
  std::string broken() const { return "--expect '" + text_ + "' does not hold"; }

 private:
  std::string text_;
  std::string figure_;
  std::string comparison_;
  double number_ = 0;
};

}  // namespace penstock::cli
