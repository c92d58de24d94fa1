// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "programs/command/results.hpp"
#include "programs/tune/tuned.hpp"

namespace penstock::cli {

/// The line of progress: a bar of the time, and the current move.
std::string tune_line(measure::TuneProgress const& now, double within, unsigned width);
/// The fate of a point that was tried: "best", "dropped: 12 % behind".
std::string became_text(measure::Tuned const& tuned, std::size_t at);
/// Text for people: a line for each point that was tried, in order, and its result.
std::string tuned_as_text(BenchFacts const& facts, measure::Tuned const& tuned);
/// A row for each point that was tried, as csv_of takes them.
std::vector<nlohmann::ordered_json> rows_of(BenchFacts const& facts, measure::Tuned const& tuned);
/// The result in sentences, for the page.
std::vector<std::string> sentences_on(measure::Tuned const& tuned);
/// JSON as docs/profile.md describes it. `saved` is the file of the profile; empty for none.
std::string tuned_as_json(BenchFacts const& facts, measure::Tuned const& tuned, std::string const& saved);
/// A sentence on why the best, which pins more than `memory`, is not what was asked for, and what to do.
std::string beyond_text(measure::Tuned const& tuned, std::string const& memory, bool to_save);

}  // namespace penstock::cli
