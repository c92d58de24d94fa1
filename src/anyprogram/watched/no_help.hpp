// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "anyprogram/watched/gaps.hpp"
#include "anyprogram/watched/model.hpp"

namespace penstock::cli {

/// A reason why streams will not help, or will help little.
struct NoHelp {
  std::string reason = {};  ///< "kernels", "link", "host", "small", "barriers".
  bool holds = false;
  std::string sentence = {};
};

/// The five reasons for which more streams would not make a program faster, each with whether it holds here.
///
/// Source: "When Streams Don't Help" of the texts on production streams.
std::vector<NoHelp> why_streams_do_not_help(WatchModel const& model, std::vector<GapSum> const& gaps);

}  // namespace penstock::cli
