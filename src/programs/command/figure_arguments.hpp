// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "programs/command/files_to_write.hpp"

namespace penstock::cli {

/// The options by which a command prints its figures as data, or writes a page of them.
struct FigureArguments {
  bool json = false;
  bool csv = false;
  std::string html;  ///< File for the page; empty for none.

  /// `as_json` says what --json prints, and `line` what a line of --csv is of: "each point".
  ///
  /// Returns: the three options.
  std::array<CLI::Option*, 3> add_to(CLI::App& command, std::string const& as_json, std::string const& line);
  /// True if standard output has data, and no text for people.
  bool as_data() const noexcept { return json || csv; }
  /// The file for FilesToWrite.
  NamedFile page() const { return {"--html", html}; }
};

/// A line with commas for each row, and `with_names` before them one with the names of the members: numbers as JSON has
/// them, yes and no for truth, an empty cell for null.
///
/// Shape: all rows have the same members in the same order, and none is a list or an object.
std::string csv_of(std::span<nlohmann::ordered_json const> rows, bool with_names = true);

/// Results for a page: the JSON that --json prints, with the rows that --csv prints as its member `lines`, and what the
/// page says first as its member `sentences`.
std::string with_lines(std::string const& json, std::span<nlohmann::ordered_json const> rows,
                       std::span<std::string const> sentences = {});

}  // namespace penstock::cli
