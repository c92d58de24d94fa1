// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "programs/command/claim.hpp"

namespace penstock::cli {

/// A condition on a program's figures: "overlap > 0.6".
class Expectation {
 public:
  /// Shape:  a figure (overlap, overlap_text, speed_of_light, duplex, hazards, pageable, legacy), one of > >= < <=, and
  ///         a number.
  /// Throws: Error of kind bad_argument.
  explicit Expectation(std::string const& text);

  /// A sentence on why it does not hold for the process, whose figures are those of `process_as_json`; empty if it
  /// does.
  std::string broken_by(nlohmann::ordered_json const& process) const;

 private:
  Claim claim_;
};

}  // namespace penstock::cli
