// SPDX-License-Identifier: Apache-2.0
#include "tools/page/page_file.hpp"

#include <ostream>

#include <nlohmann/json.hpp>

#include "tools/page/results_page.hpp"

namespace penstock::cli {

void write_page(OutputFile& file, std::string const& results, std::string const& title) {
  // Without the blanks that make it easy to read, which would double it.
  std::string const page = results_page(nlohmann::ordered_json::parse(results).dump(), title);
  file.write("the page", [&](std::ostream& out) { out << page; });
}

}  // namespace penstock::cli
