// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/page_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "penstock/core/error.hpp"
#include "penstock/page/results_page.hpp"

namespace penstock::cli {

void expect_writable(std::string const& path) {
  std::ofstream const file(path, std::ios::app);
  if (!file)
    throw Error(ErrorKind::bad_argument, path + ": " + std::strerror(errno) + ". Name a file that can be written.");
}

void write_page(std::string const& path, std::string const& results, std::string const& title) {
  std::ofstream file(path, std::ios::trunc);
  file << results_page(results, title);
  file.close();
  if (!file) {
    throw Error(ErrorKind::system, path + " took less than all of the page: see that its disk has room.");
  }
}

}  // namespace penstock::cli
