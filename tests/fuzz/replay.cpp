// SPDX-License-Identifier: Apache-2.0
// usage: penstock_fuzz_TARGET CORPUS [SEED COUNT]
// A target without libFuzzer: tries each file of the folder CORPUS, and COUNT changes of these at random, which SEED
// decides. An input with a finding is left in the file `finding`.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/harness.hpp"

namespace {

constexpr std::size_t longest = 4096;

/// Changes an input as one step of libFuzzer: a byte becomes another, appears or goes, or a piece is copied from one.
void change(std::string& input, std::vector<std::string> const& corpus, std::mt19937_64& random) {
  auto const below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  std::size_t const at = below(input.size() + 1);
  constexpr std::string_view telling = "\n\\\"{}[]:,.*- \t\r09aZ\x7f\x80\xC3\xEF\xFF";
  char const byte = below(3) == 0 ? static_cast<char>(random()) : telling[below(telling.size() + 1) % telling.size()];
  switch (below(4)) {
    case 0:
      if (at < input.size()) input[at] = byte;
      break;
    case 1:
      input.insert(at, below(8) == 0 ? below(300) : 1, byte);
      break;
    case 2:
      input.erase(at, 1 + below(below(8) == 0 ? 100 : 2));
      break;
    default: {
      std::string const& other = corpus[below(corpus.size())];
      std::size_t const from = below(other.size() + 1);
      input.insert(at, other.substr(from, below(40)));
    }
  }
  input.resize(std::min(input.size(), longest));
}

void attempt(std::string const& input) {
  // It is written before, since a finding ends the program.
  std::ofstream("finding", std::ios::binary).write(input.data(), static_cast<std::streamsize>(input.size()));
  penstock::fuzz::try_input(input);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2 && count != 4) {
    std::fprintf(stderr, "usage: %s CORPUS [SEED COUNT]\n", words[0]);
    return 2;
  }
  std::vector<std::filesystem::path> paths;
  for (auto const& entry : std::filesystem::directory_iterator(words[1])) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> corpus;
  for (auto const& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    attempt(corpus.back());
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "%s has no inputs in it\n", words[1]);
    return 2;
  }
  std::uint64_t const changes = count == 4 ? std::strtoull(words[3], nullptr, 10) : 0;
  std::mt19937_64 random(count == 4 ? std::strtoull(words[2], nullptr, 10) : 0);
  for (std::uint64_t i = 0; i < changes; ++i) {
    std::string input = corpus[random() % corpus.size()];
    for (std::uint64_t steps = 1 + random() % 5; steps > 0; --steps) change(input, corpus, random);
    attempt(input);
  }
  std::filesystem::remove("finding");
  std::printf("%zu inputs and %llu changes of them\n", corpus.size(), static_cast<unsigned long long>(changes));
  return 0;
}
