// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/text_head.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "penstock/files.hpp"

namespace penstock {
namespace {

using namespace std::string_view_literals;

/// A byte order mark; that of UTF-32 goes before that of UTF-16 with which it begins.
struct Mark {
  std::string_view bytes;
  char const* encoding;  ///< As iconv names it; null: the text is read as it is.
};
constexpr std::array marks{
    Mark{"\xef\xbb\xbf"sv, nullptr}, Mark{"\xff\xfe\0\0"sv, "UTF-32"}, Mark{"\0\0\xfe\xff"sv, "UTF-32"},
    Mark{"\xff\xfe"sv, "UTF-16"},    Mark{"\xfe\xff"sv, "UTF-16"},
};

std::string_view text_of(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

}  // namespace

std::optional<TextHead> text_head_of(std::span<std::byte const> first, bool all) {
  std::string_view text = text_of(first);
  TextHead head;
  for (Mark const& mark : marks) {
    if (text.size() < mark.bytes.size() && mark.bytes.starts_with(text) && !all) return std::nullopt;
    if (!text.starts_with(mark.bytes)) continue;
    if (mark.encoding != nullptr) {
      throw FileProblem(std::string("its text is in ") + mark.encoding +
                        ", and is read in UTF-8 only: give what `iconv -f " + mark.encoding +
                        " -t UTF-8 FILE` prints as standard input");
    }
    head.mark = mark.bytes.size();
    break;
  }
  text.remove_prefix(head.mark);
  if (text.find('\n') != std::string_view::npos) return head;
  if (!all) return std::nullopt;
  head.ends_by_cr = text.find('\r') != std::string_view::npos;
  return head;
}

bool has_lines(Framing const& framing) {
  std::array const end{std::byte{'\n'}};
  return framing.delimiter_bytes() == 1 && framing.record_bytes(end) == 1;
}

void end_lines_by_lf(std::span<std::byte> text) noexcept {
  std::ranges::replace(text, std::byte{'\r'}, std::byte{'\n'});
}

}  // namespace penstock
