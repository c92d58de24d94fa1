// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <sys/wait.h>

#include "egress/sink/folder_of_sinks.hpp"
#include "egress/sink/little_files.hpp"
#include "penstock/egress/arrow.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// A program that shows what a file holds, or says what is wrong with it. Its exit code is 77, if it cannot read any.
struct Reader {
  std::string_view name, program, script, needs;
};
constexpr Reader readers[]{
    {"MadeForTheTests", PENSTOCK_PYTHON, "read_arrow.py", "python3"},
    {"OfApache", PENSTOCK_NODE, "read_arrow.cjs", "node, and the package apache-arrow where NODE_PATH says"},
};

/// A folder of files of Arrow.
struct AnArrowFile : support::FolderOfSinks {};

/// A folder of such files that another program reads.
struct AnArrowFileThatIsRead : AnArrowFile, testing::WithParamInterface<Reader> {
  void expect_shown(std::string const& name, std::string const& expected) const {
    auto const [_, program, script, needs] = GetParam();
    if (program.empty()) GTEST_SKIP() << "needs " << needs;
    std::string const command =
        std::string(program) + " " + PENSTOCK_ARROW_READERS + "/" + std::string(script) + " " + path(name) + " 2>&1";
    std::FILE* const output = popen(command.c_str(), "r");
    std::string text;
    for (int letter = 0; output != nullptr && (letter = std::getc(output)) != EOF;) text += static_cast<char>(letter);
    int const status = pclose(output);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "needs " << needs;
    EXPECT_EQ(status, 0);
    EXPECT_EQ(text, expected);
  }
};
INSTANTIATE_TEST_SUITE_P(ByAReader, AnArrowFileThatIsRead, testing::ValuesIn(readers),
                         [](auto const& tested) { return std::string(tested.param.name); });

template <class Number>
void add_extremes(ArrowColumn& column) {
  using Limits = std::numeric_limits<Number>;
  column.append(std::span<Number const>(std::array{Limits::lowest(), Number{0}, Limits::max()}));
}

TEST_P(AnArrowFileThatIsRead, HasNumbersOfAllKinds) {
  using enum ArrowKind;
  std::vector<ArrowField> const fields{{"a", int8},   {"b", int16},  {"c", int32},  {"d", int64},   {"e", uint8},
                                       {"f", uint16}, {"g", uint32}, {"h", uint64}, {"i", float32}, {"j", float64}};
  ArrowBatch batch(fields);
  add_extremes<std::int8_t>(batch.column(0));
  add_extremes<std::int16_t>(batch.column(1));
  add_extremes<std::int32_t>(batch.column(2));
  add_extremes<std::int64_t>(batch.column(3));
  add_extremes<std::uint8_t>(batch.column(4));
  add_extremes<std::uint16_t>(batch.column(5));
  add_extremes<std::uint32_t>(batch.column(6));
  add_extremes<std::uint64_t>(batch.column(7));
  batch.column(8).append(std::span<float const>(std::array{-1.5F, 0.0F, 1e10F}));
  batch.column(9).append(std::span<double const>(std::array{-1.5, 0.1, 1e300}));
  ArrowFile file(path("numbers"), fields);
  file.append(batch);
  file.close();
  expect_shown(
      "numbers",
      "a: int8, b: int16, c: int32, d: int64, e: uint8, f: uint16, g: uint32, h: uint64, i: float32, j: float64\n"
      "batch 0\n"
      "-128 -32768 -2147483648 -9223372036854775808 0 0 0 0 -1.5 -1.5\n"
      "0 0 0 0 0 0 0 0 0.0 0.1\n"
      "127 32767 2147483647 9223372036854775807 255 65535 4294967295 18446744073709551615 10000000000.0 1e+300\n");
}

TEST_P(AnArrowFileThatIsRead, HasTextsBytesTimesAndNullsInSeveralBatches) {
  std::vector<ArrowField> const fields{
      {"number", ArrowKind::int32, true},
      {"name", ArrowKind::utf8, true},
      {"bytes", ArrowKind::binary},
      {"key", ArrowKind::fixed_binary, true, 3},
      {"when", ArrowKind::timestamp, true, 0, ArrowTimeUnit::microsecond, "UTC"},
      {"local", ArrowKind::timestamp, false, 0, ArrowTimeUnit::second},
  };
  ArrowBatch batch(fields);
  std::string expected =
      "number: int32?, name: utf8?, bytes: binary, key: fixed_binary[3]?, when: timestamp[us, UTC]?, local: "
      "timestamp[s, no zone]\n";
  ArrowFile file(path("table"), fields);
  // Bitmaps have several bytes, and end within one, at its end, and behind its first bit.
  int number = 0;
  for (int const rows : {20, 16, 0, 9, 1}) {
    batch.clear();
    expected += "batch " + std::to_string(number++) + "\n";
    for (int k = 0; k < rows; ++k) {
      bool const is_null = k % 3 == 2;
      std::string const text = std::string(static_cast<std::size_t>(k), 'x') + "\u00e9";
      is_null ? batch.column(0).append_null() : batch.column(0).append(k);
      k == 7 ? batch.column(1).append_null() : batch.column(1).append(text);
      batch.column(2).append(std::string_view("\0\xff", static_cast<std::size_t>(k % 3)));
      k == 0 ? batch.column(3).append_null() : batch.column(3).append("abc");
      is_null ? batch.column(4).append_null() : batch.column(4).append(std::int64_t{1'000'000} * k);
      batch.column(5).append(std::int64_t{-1});
      std::string const bytes[]{"", "00", "00ff"};
      expected += (is_null ? "null " : std::to_string(k) + " ") + (k == 7 ? "null " : text + " ") + bytes[k % 3] +
                  (k == 0 ? " null " : " 616263 ") + (is_null ? "null" : std::to_string(1'000'000 * k)) + " -1\n";
    }
    file.append(batch);
  }
  file.close();
  file.close();
  expect_shown("table", expected);
}

TEST_P(AnArrowFileThatIsRead, MayHaveNoBatchesAndNoColumns) {
  ArrowFile(path("empty"), {{"a", ArrowKind::int8}}).close();
  expect_shown("empty", "a: int8\n");
  ArrowFile(path("nothing"), {}).close();
  expect_shown("nothing", "\n");
}

TEST_P(AnArrowFileThatIsRead, HasTimesOfAllUnits) {
  using enum ArrowTimeUnit;
  std::vector<ArrowField> fields;
  for (auto const unit : {second, millisecond, microsecond, nanosecond})
    fields.push_back({"", ArrowKind::timestamp, false, 0, unit, unit == second ? "" : "Europe/Berlin"});
  ArrowBatch batch(fields);
  for (std::size_t k = 0; k < 4; ++k) add_extremes<std::int64_t>(batch.column(k));
  ArrowFile file(path("times"), fields);
  file.append(batch);
  file.close();
  std::string expected =
      ": timestamp[s, no zone], : timestamp[ms, Europe/Berlin], : timestamp[us, Europe/Berlin], : timestamp[ns, "
      "Europe/Berlin]\nbatch 0\n";
  for (std::string const number : {"-9223372036854775808", "0", "9223372036854775807"})
    expected += number + " " + number + " " + number + " " + number + "\n";
  expect_shown("times", expected);
}

TEST_F(AnArrowFile, IsNotThereBeforeItIsWhole) {
  hold("table", "old");
  std::vector<ArrowField> const fields{{"a", ArrowKind::int64}};
  ArrowBatch batch(fields);
  for (std::int64_t k = 0; k < 1000; ++k) batch.column(0).append(k);
  {
    support::FilesOfAtMost const limit(5000);
    ArrowFile file(path("table"), fields);
    file.append(batch);
    EXPECT_THAT(problem_of([&] { file.close(); }), HasSubstr("(File too large), and is as it was"));
  }
  EXPECT_EQ(content("table"), "old");
}

TEST_F(AnArrowFile, RefusesOtherColumnsThanItHas) {
  std::vector<ArrowField> const fields{{"a", ArrowKind::int64}, {"b", ArrowKind::utf8}};
  ArrowFile file(path("table"), fields);
  EXPECT_THAT(problem_of([&] { file.append(ArrowBatch({{"a", ArrowKind::int64}})); }), HasSubstr("has other fields"));
  ArrowBatch batch(fields);
  batch.column(0).append(std::int64_t{1});
  EXPECT_THAT(problem_of([&] { file.append(batch); }), HasSubstr("'b' has 0 rows, and 'a' has 1"));
  EXPECT_THAT(problem_of([&] { batch.column(0).append(1); }), HasSubstr("another type than the numbers"));
  EXPECT_THAT(problem_of([&] { batch.column(0).append("text"); }), HasSubstr("has no rows of 4 bytes"));
  EXPECT_THAT(problem_of([&] { batch.column(1).append_null(); }), HasSubstr("is not nullable"));
  EXPECT_THAT(problem_of([&] { batch.column(2); }), HasSubstr("There is no column 2"));
  EXPECT_THAT(problem_of([&] { ArrowBatch({{"key", ArrowKind::fixed_binary}}); }), HasSubstr("does not say which"));
  EXPECT_THAT(problem_of([&] { ArrowFile(path("table"), fields, {.keeping = FileKeeping::goes_on}); }),
              HasSubstr("cannot go on"));
  file.close();
}

}  // namespace
}  // namespace penstock
