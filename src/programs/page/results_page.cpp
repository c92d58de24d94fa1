// SPDX-License-Identifier: Apache-2.0
#include "programs/page/results_page.hpp"

#include <ostream>

#include <nlohmann/json.hpp>

namespace penstock {
namespace {

/// Text between tags.
void append_escaped(std::string& page, std::string_view text) {
  for (char const letter : text) {
    switch (letter) {
      case '&':
        page += "&amp;";
        break;
      case '<':
        page += "&lt;";
        break;
      case '>':
        page += "&gt;";
        break;
      default:
        page += letter;
    }
  }
}

/// Appends JSON inside a script element. There "</script" would end it, and "<!--" change how its end is found. In JSON
/// a "<" can only be part of a text, so it may be written as an escape; and so may the two line separators at which
/// JavaScript ended its texts until 2019.
void append_json(std::string& page, std::string_view json) {
  for (std::size_t at = 0; at < json.size(); ++at) {
    std::string_view const rest = json.substr(at);
    if (rest.front() == '<') {
      page += "\\u003c";
    } else if (rest.starts_with("\xE2\x80\xA8")) {
      page += "\\u2028";
      at += 2;
    } else if (rest.starts_with("\xE2\x80\xA9")) {
      page += "\\u2029";
      at += 2;
    } else {
      page += rest.front();
    }
  }
}

}  // namespace

std::string results_page(std::string_view results_json, std::string_view title) {
  PageText const text = page_text();
  std::string page;
  page.reserve(text.before_title.size() + text.before_results.size() + text.after_results.size() + title.size() +
               results_json.size() + results_json.size() / 8);
  page += text.before_title;
  append_escaped(page, title);
  page += text.before_results;
  append_json(page, results_json);
  page += text.after_results;
  return page;
}

}  // namespace penstock

namespace penstock::cli {

void write_page(OutputFile& file, std::string const& results, std::string const& title) {
  // The page has no blanks for readability, which would double its size.
  std::string const page = results_page(nlohmann::ordered_json::parse(results).dump(), title);
  file.write("the page", [&](std::ostream& out) { out << page; });
}

}  // namespace penstock::cli
