// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/page_file.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

#include "penstock/core/error.hpp"
#include "penstock/page/results_page.hpp"

namespace penstock::cli {

void write_page(std::string const& path, std::string const& results, std::string const& title) {
  std::ofstream file(path, std::ios::trunc);
  // Without the blanks that make it easy to read, which would double it.
  file << results_page(nlohmann::ordered_json::parse(results).dump(), title);
  file.close();
  if (!file) {
    throw Error(ErrorKind::system, path + " took less than all of the page: see that its disk has room.");
  }
}

}  // namespace penstock::cli
