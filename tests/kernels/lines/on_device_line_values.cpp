// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "kernels/lines/line_groups.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

LineFields decimals(std::uint32_t places) {
  return {.separator = ',', .decimal = true, .places = places};
}
struct Written {
  std::string text;
  std::string sum;  ///< Empty: it is no number, or cannot be added.
};

TEST_P(KernelsOn, SumDecimalNumbersExactly) {
  std::string const zeros(3000, '0');
  std::vector<Written> const all{{"-3", "-3.00"},
                                 {"+2.50", "2.50"},
                                 {"1e3", "1000.00"},
                                 {"1E+3", "1000.00"},
                                 {"12345e-2", "123.45"},
                                 {"\"7\"", "7.00"},
                                 {".5", "0.50"},
                                 {"5.", "5.00"},
                                 {"-0.0", "0.00"},
                                 {"0e999999999999999999999", "0.00"},
                                 {"0.01" + zeros, "0.01"},
                                 {zeros + "1", "1.00"},
                                 {"1" + zeros + "e-3000", "1.00"},
                                 {"0." + zeros + "1e3001", "1.00"},
                                 {"1000000000000000000000e-10", "100000000000.00"},
                                 {"92233720368547758.07", "92233720368547758.07"},
                                 {"-92233720368547758.07", "-92233720368547758.07"},
                                 {"92233720368547758.08", "92233720368547758.08"},
                                 {"184467440737095516.15", "184467440737095516.15"},
                                 {"-184467440737095516.15", "-184467440737095516.15"},
                                 {"1e17", "100000000000000000.00"},
                                 {"184467440737095516.16", ""},
                                 {"-184467440737095516.16", ""},
                                 {"1e18", ""},
                                 {"1e999999999999999999999", ""},
                                 {"1e-999999999999999999999", ""},
                                 {"0.005", ""},
                                 {"1e-3", ""},
                                 {"", ""},
                                 {"-", ""},
                                 {".", ""},
                                 {"e5", ""},
                                 {"1e", ""},
                                 {"1e+", ""},
                                 {"1e5.", ""},
                                 {"1.2.3", ""},
                                 {"1-", ""},
                                 {"--1", ""},
                                 {" 1", ""},
                                 {"1 ", ""},
                                 {"0x10", ""},
                                 {"nan", ""},
                                 {"1,5", "1.00"}};
  std::string text;
  for (std::size_t k = 0; k < all.size(); ++k) text += std::to_string(k) + "," + all[k].text + "\n";
  std::vector<LineGroup> const groups = groups_of(*this, text, decimals(2), all.size() + 1);
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_EQ(groups[k].lines, 1U) << all[k].text;
    EXPECT_EQ(groups[k].without, all[k].sum.empty() ? 1U : 0U) << all[k].text;
    EXPECT_EQ(sum_text(groups[k], decimals(2)), all[k].sum.empty() ? "0.00" : all[k].sum) << all[k].text;
  }
  auto const sums = memory(2 * sizeof(LineGroup));
  EXPECT_THROW(
      sum_lines(DeviceSpan<std::byte const>(), decimals(19), DeviceSpan<std::byte>(sums).as<LineGroup>(), stream()),
      Error);
}

TEST_P(KernelsOn, SumDecimalNumbersBeyond64Bits) {
  std::string text;
  for (int k = 0; k < 7000; ++k) text += "0,9223372036854775807\n1,-9223372036854775807\n2,-1\n2,9223372036854775807\n";
  for (std::size_t const count : {std::size_t{4}, std::size_t{4096}}) {
    std::vector<LineGroup> groups = groups_of(*this, text, decimals(0), count);
    EXPECT_EQ(sum_text(groups[0], decimals(0)), "64563604257983430649000");
    EXPECT_EQ(sum_text(groups[1], decimals(18)), "-64563.604257983430649000");
    EXPECT_EQ(sum_text(groups[2], decimals(0)), "64563604257983430642000");
    EXPECT_EQ(groups[2].lines, 14'000U);
    groups[0] += groups[1];
    EXPECT_EQ(sum_text(groups[0], decimals(3)), "0.000");
  }
}

}  // namespace
}  // namespace penstock
