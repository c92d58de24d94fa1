// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/lines/literal_lists.hpp"
#include "kernels/lines/literal_table.hpp"
#include "penstock/lines.hpp"

namespace penstock {
namespace {

/// What a search does in a text, per KiB of it.
struct Work {
  double candidates = 0;  ///< Places at which a literal may be, and is not.
  double steps = 0;       ///< Bytes of literals that are compared there in vain.
};

Work work_in(std::string text, Literals const& literals) {
  LiteralTable const table{reinterpret_cast<unsigned char const*>(literals.table().data())};
  LiteralHeader const& header = table.header();
  std::size_t const size = text.size();
  text.resize(size + 8);
  Work work;
  for (std::size_t at = 0; at < size; ++at) {
    std::uint32_t const low = four_bytes(text.data() + at), high = four_bytes(text.data() + at + 4);
    std::uint32_t const here = windows_at(at, header.windows, header.stride);
    for (std::uint32_t kind = 0; kind < literal_windows; ++kind) {
      auto const window = static_cast<LiteralWindow>(kind);
      std::uint32_t const hash = hash_of(window, low, high);
      if ((here & as_bit(window)) == 0 || !passes(table.filter(), hash)) continue;
      LiteralSteps steps{.left = 1 << 30};
      if (table.finds(text.data(), size, at, hash, steps)) continue;
      ++work.candidates;
      work.steps += (1 << 30) - steps.left;
    }
  }
  double const kib = static_cast<double>(size) / 1024;
  return {work.candidates / kib, work.steps / kib};
}

TEST(WorkOfASearch, DoesNotDependOnTheLiterals) {
  std::string const text = some_access_log(1, 400'000);
  for (LiteralList const& list : lists_of_literals(text, 1000, 2)) {
    Work const work = work_in(text, Literals(list.literals));
    EXPECT_LT(work.candidates, 100) << list.name;
    EXPECT_LT(work.steps, 800) << list.name;
    // With a sample of the text it is less.
    Work const sampled = work_in(text, Literals(list.literals, std::string_view(text).substr(0, 100'000)));
    EXPECT_LT(sampled.candidates, 12) << list.name;
    EXPECT_LT(sampled.steps, 200) << list.name;
  }
}

TEST(WorkOfASearch, AvoidsWhatASampleIsFullOf) {
  std::string const often = "worker-thread-pool: ", line = often + "begin\n" + often + "end\n";
  std::string text;
  while (text.size() < 100'000) text += line;
  // All windows are the only literal's own, so without a sample the first ones are as good as others.
  std::vector<std::string> const literals{often + "stop"};
  EXPECT_GT(work_in(text, Literals(literals)).candidates, 30);
  EXPECT_LT(work_in(text, Literals(literals, text)).candidates, 1);
}

}  // namespace
}  // namespace penstock
