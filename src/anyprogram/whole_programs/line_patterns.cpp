// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/whole_programs/line_patterns.hpp"

#include <algorithm>
#include <array>

#include <regex.h>

#include "penstock/error.hpp"

namespace penstock::cli {

struct LinePatterns::Compiled {
  explicit Compiled(std::string const& pattern) {
    // Not std::regex, whose stack grows with the length of a line.
    if (int const fault = regcomp(&regex, pattern.c_str(), REG_EXTENDED | REG_NOSUB); fault != 0) {
      std::array<char, 200> why{};
      regerror(fault, &regex, why.data(), why.size());
      throw Error(ErrorKind::bad_argument,
                  "'" + pattern + "' is no extended regular expression, as of grep -E: " + why.data() + ".");
    }
  }
  Compiled(Compiled const&) = delete;
  Compiled& operator=(Compiled const&) = delete;
  ~Compiled() { regfree(&regex); }

  regex_t regex{};
};

LinePatterns::LinePatterns() = default;
LinePatterns::LinePatterns(LinePatterns&&) noexcept = default;
LinePatterns& LinePatterns::operator=(LinePatterns&&) noexcept = default;
LinePatterns::~LinePatterns() = default;

LinePatterns::LinePatterns(std::vector<std::string> const& patterns) {
  for (std::string const& pattern : patterns) all_.push_back(std::make_unique<Compiled>(pattern));
}

bool LinePatterns::any_in(std::string_view line) const {
  if (all_.empty()) return false;
  std::string const text(line);
  return std::ranges::any_of(all_,
                             [&](auto const& one) { return regexec(&one->regex, text.c_str(), 0, nullptr, 0) == 0; });
}

}  // namespace penstock::cli
