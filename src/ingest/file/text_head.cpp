// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/text_head.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "penstock/ingest/files.hpp"

namespace penstock {
namespace {

using namespace std::string_view_literals;

/// A byte order mark. The one of UTF-32 is tested before that of UTF-16, with which it begins.
struct Mark {
  std::string_view bytes;
  char const* encoding;  ///< Name of the encoding for iconv; null: the text is read as it is.
};
constexpr std::array marks{
    Mark{"\xef\xbb\xbf"sv, nullptr}, Mark{"\xff\xfe\0\0"sv, "UTF-32"}, Mark{"\0\0\xfe\xff"sv, "UTF-32"},
    Mark{"\xff\xfe"sv, "UTF-16"},    Mark{"\xfe\xff"sv, "UTF-16"},
};

std::string_view text_of(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

/// Returns the iconv name of the encoding of a text without a byte order mark, in which ASCII characters are padded
/// with zeros; null for any other text.
char const* wide_encoding_of(std::string_view text) {
  constexpr std::size_t looked_at = 256, least = 4;
  text = text.substr(0, std::min(text.size() / 4 * 4, looked_at));
  if (text.size() < least) return nullptr;
  std::array<std::size_t, 4> zeros{};  // Indexed by the place in groups of four bytes.
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '\0') ++zeros.at(k % 4);
  }
  std::size_t const groups = text.size() / 4;
  auto const has_zeros = [&](std::array<bool, 4> const& wanted) {
    for (std::size_t k = 0; k < 4; ++k) {
      if (10 * (wanted.at(k) ? groups - zeros.at(k) : zeros.at(k)) > groups) return false;
    }
    return true;
  };
  if (has_zeros({false, true, false, true})) return "UTF-16LE";
  if (has_zeros({true, false, true, false})) return "UTF-16BE";
  if (has_zeros({false, true, true, true})) return "UTF-32LE";
  return has_zeros({true, true, true, false}) ? "UTF-32BE" : nullptr;
}

[[noreturn]] void refuse_encoding(std::string const& encoding) {
  throw FileProblem("its text is in " + encoding + ", and is read in UTF-8 only: give what `iconv -f " + encoding +
                    " -t UTF-8 FILE` prints as standard input");
}

/// Recognises zlib by its first two bytes, with which no text in UTF-8 begins. "x\1" may be zlib as well, but also a
/// text whose fields end so.
///
/// Source: RFC 1950, 2.2.
bool is_zlib(std::string_view text) {
  return text.starts_with("x\x9c") || text.starts_with("x\xda");
}

/// Recognises a tar archive by the header of its first member, as POSIX and GNU tar write it. An archive of the
/// seventh edition of Unix has no such signature.
///
/// Source: POSIX.1-2017, pax, "ustar Interchange Format"; tar.h of GNU tar 1.34.
bool is_tar(std::string_view text) {
  constexpr std::size_t place = 257;
  text.remove_prefix(std::min(text.size(), place));
  return text.starts_with("ustar\0"sv) || text.starts_with("ustar  \0"sv);
}

}  // namespace

std::optional<TextHead> text_head_of(std::span<std::byte const> first, bool all) {
  std::string_view text = text_of(first);
  if (is_tar(text)) {
    throw FileProblem(
        "it is a tar archive, whose members are not read here: give what `tar -xOf FILE` prints as standard input "
        "(`tar -xOzf FILE` if it is compressed by gzip)");
  }
  TextHead head;
  for (Mark const& mark : marks) {
    if (text.size() < mark.bytes.size() && mark.bytes.starts_with(text) && !all) return std::nullopt;
    if (!text.starts_with(mark.bytes)) continue;
    if (mark.encoding != nullptr) refuse_encoding(mark.encoding);
    head.mark = mark.bytes.size();
    break;
  }
  if (char const* const encoding = head.mark == 0 ? wide_encoding_of(text) : nullptr) refuse_encoding(encoding);
  if (is_zlib(text)) {
    throw FileProblem(
        "it is compressed in the format of zlib, which is not decoded here: give what `zlib-flate -uncompress <FILE` "
        "(of qpdf) prints as standard input");
  }
  text.remove_prefix(head.mark);
  if (text.find('\n') != std::string_view::npos) return head;
  if (!all) return std::nullopt;
  // The last byte may have a "\n" behind it.
  std::size_t const end = text.find('\r');
  head.ends_by_cr = end != std::string_view::npos && end + 1 < text.size();
  return head;
}

bool has_end_of_line(std::span<std::byte const> text) noexcept {
  return text_of(text).find_first_of("\r\n") != std::string_view::npos;
}

void add_first_end(OpenFile const& file, std::vector<std::byte>& first) {
  constexpr std::uint64_t far = std::uint64_t{256} << 20U;
  std::size_t const head = first.size();
  if (head == 0 || has_end_of_line(first)) return;
  std::vector<std::byte> more(std::size_t{1} << 20U);
  for (std::uint64_t at = head; at < std::min(file.size(), far);) {
    std::size_t const got = file.read_at(at, more);
    if (got == 0) return;
    if (has_end_of_line(std::span(more).first(got))) {
      first.insert(first.end(), more.begin(), more.begin() + static_cast<std::ptrdiff_t>(got));
      return;
    }
    at += got;
  }
}

bool has_lines(Framing const& framing) {
  std::array const end{std::byte{'\n'}};
  return framing.delimiter_bytes() == 1 && framing.record_bytes(end) == 1;
}

void end_lines_by_lf(std::span<std::byte> text) noexcept {
  std::ranges::replace(text, std::byte{'\r'}, std::byte{'\n'});
}

}  // namespace penstock
