// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "engine/machine/output_file.hpp"

namespace penstock {

/// The fixed parts of the page: web/ and uPlot, put together by assemble.cmake when penstock is built.
struct PageText {
  std::string_view before_title;    ///< Text up to `<title>`.
  std::string_view before_results;  ///< Text from `</title>` into the script element that is data.
  std::string_view after_results;   ///< Text from `</script>` to the end.
};

/// Threads: any.
PageText page_text() noexcept;

/// One HTML file that shows results as charts, a timeline, a table and text, and contains them for download.
///
/// It loads nothing and forbids loading: all that it needs is inside. It takes about 160 KB besides the results.
///
/// Shape:   results_json is one object as docs/results.md has it, in UTF-8; what the page cannot read it says in a
///          sentence. title is plain text, in UTF-8.
/// Threads: any.
std::string results_page(std::string_view results_json, std::string_view title);

}  // namespace penstock

namespace penstock::cli {

/// Writes a page of results, which are in the form of docs/results.md.
///
/// Throws: as OutputFile::write.
void write_page(OutputFile& file, std::string const& results, std::string const& title);

}  // namespace penstock::cli
