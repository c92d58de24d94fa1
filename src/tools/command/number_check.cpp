// SPDX-License-Identifier: Apache-2.0
#include "tools/command/number_check.hpp"

#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

namespace penstock::cli {
namespace {

/// None, if `text` is no number, or no finite one: "nan" lies in every range by CLI11's account.
std::optional<double> finite(std::string const& text) {
  double number = 0;
  bool const read = CLI::detail::lexical_cast(text, number);
  return read && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

/// In as few digits as people would write.
std::string plain(double number) {
  char text[32];
  auto const [end, problem] = std::to_chars(std::begin(text), std::end(text), number, std::chars_format::fixed);
  return {std::begin(text), end};
}

CLI::Validator takes(std::function<bool(std::string const&)> good, std::string const& what) {
  return {[good = std::move(good), what](std::string& text) -> std::string {
            return good(text) ? "" : "'" + text + "' is not " + what;
          },
          ""};
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return takes(
      [least, most](std::string const& text) {
        std::uint64_t number = 0;
        auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
        return problem == std::errc{} && end == text.data() + text.size() && number >= least && number <= most;
      },
      "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
}

CLI::Validator number_between(double least, double most, std::string const& what) {
  return takes(
      [least, most](std::string const& text) {
        auto const number = finite(text);
        return number && *number >= least && *number <= most;
      },
      what + " from " + plain(least) + " to " + plain(most));
}

CLI::Validator number_above_zero(std::string const& what, std::string const& example) {
  return takes(
      [](std::string const& text) {
        auto const number = finite(text);
        return number && *number > 0;
      },
      what + " above 0, as in " + example);
}

}  // namespace penstock::cli
