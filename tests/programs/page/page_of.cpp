// SPDX-License-Identifier: Apache-2.0
// usage: penstock_page_of TITLE < RESULTS.json > PAGE.html
// Makes a page of results, to be looked at.
#include <iostream>
#include <iterator>
#include <string>

#include "programs/page/results_page.hpp"

int main(int count, char** words) {
  if (count != 2) {
    std::cerr << "usage: penstock_page_of TITLE < RESULTS.json > PAGE.html\n";
    return 2;
  }
  std::string const results{std::istreambuf_iterator<char>(std::cin), {}};
  std::cout << penstock::results_page(results, words[1]);
  return std::cout.flush() ? 0 : 1;
}
