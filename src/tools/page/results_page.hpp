// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace penstock {

/// One HTML file that shows results as charts, a timeline, a table and words, and has them in it to download.
///
/// It loads nothing and forbids itself to: all that it needs is inside. It takes about 160 KB besides the results.
///
/// Shape:   results_json is one object as docs/results.md has it, in UTF-8; what the page cannot read it says in a
///          sentence. title is plain text, in UTF-8.
/// Threads: any.
std::string results_page(std::string_view results_json, std::string_view title);

}  // namespace penstock
