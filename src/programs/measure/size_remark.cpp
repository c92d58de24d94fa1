// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/size_remark.hpp"

#include <cctype>

#include "engine/core/number_text.hpp"
#include "programs/command/program.hpp"

namespace penstock::cli {
namespace {

/// "4KiB" for "4kb", "4 KB" and the like; empty for a text that is not a size in a unit of 1000 bytes.
std::string in_1024(std::string const& size) {
  std::size_t const digits = size.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string::npos) return "";
  std::string unit = size.substr(digits);
  if (unit.front() == ' ') unit.erase(0, 1);
  for (char& letter : unit) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  if (unit != "KB" && unit != "MB" && unit != "GB" && unit != "TB") return "";
  return size.substr(0, digits) + unit.front() + "iB";
}

}  // namespace

std::string size_remark(std::string const& option, std::string const& list) {
  for (std::size_t from = 0; from < list.size();) {
    std::size_t const end = list.find_first_of(",.*", from);
    std::string const size = list.substr(from, end - from);
    if (std::string const other = in_1024(size); !other.empty()) {
      std::string text = option;
      text.append(" ").append(size).append(" is ").append(std::to_string(parse_size(size)));
      text.append(" bytes; ").append(other).append(" is ").append(std::to_string(parse_size(other)));
      return text.append(".");
    }
    if (end == std::string::npos) break;
    from = end + 1;
  }
  return "";
}

void say_size_remark(std::string const& option, std::string const& list) {
  std::string const remark = size_remark(option, list);
  if (!remark.empty()) tell(remark);
}

}  // namespace penstock::cli
