// SPDX-License-Identifier: Apache-2.0
#include "lease/postgres/postgres_address.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <memory>
#include <string_view>

#include <libpq-fe.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::string_view own_word = "ledger=";

bool is_uri(std::string_view text) {
  return text.starts_with("postgresql://") || text.starts_with("postgres://");
}

bool is_space(char letter) {
  return std::isspace(static_cast<unsigned char>(letter)) != 0;
}

/// Takes "ledger=NAME" out of the parameters of a URI; the name, or empty.
std::string take_from_uri(std::string& uri) {
  std::size_t const question = uri.find('?');
  if (question == std::string::npos) return {};
  for (std::size_t at = question + 1; at < uri.size();) {
    std::size_t const end = std::min(uri.find('&', at), uri.size());
    if (uri.compare(at, own_word.size(), own_word) == 0) {
      std::string name = uri.substr(at + own_word.size(), end - at - own_word.size());
      // The separator goes with it: the one behind, or that before the last parameter.
      bool const is_last = end == uri.size();
      uri.erase(is_last ? at - 1 : at, end - at + 1);
      return name;
    }
    at = end + 1;
  }
  return {};
}

/// Where the value that begins there ends. It may have quotes, and letters behind a backslash.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  bool quoted = false;
  for (; at < text.size() && (quoted || !is_space(text[at])); ++at) {
    if (text[at] == '\'') quoted = !quoted;
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
  }
  return at;
}

/// The same of words.
std::string take_from_words(std::string& words) {
  for (std::size_t at = 0; at < words.size();) {
    if (is_space(words[at])) {
      ++at;
      continue;
    }
    std::size_t const end = end_of_value(words, at);
    if (words.compare(at, own_word.size(), own_word) == 0) {
      std::string name = words.substr(at + own_word.size(), end - at - own_word.size());
      words.erase(at, end - at);
      return name;
    }
    at = end;
  }
  return {};
}

bool is_name(std::string_view name) {
  constexpr std::size_t longest = 40;
  auto const fits = [](char letter) {
    return letter == '_' || (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
  };
  return !name.empty() && name.size() <= longest && std::ranges::all_of(name, fits) && !name.starts_with("pg_");
}

}  // namespace

PostgresAddress::PostgresAddress(std::string const& connection) {
  std::string text = connection;
  std::string const own = is_uri(text) ? take_from_uri(text) : take_from_words(text);
  if (!own.empty()) schema = own;
  if (!is_name(schema))
    throw Error(ErrorKind::bad_argument,
                "The name of a ledger in PostgreSQL has lower-case letters, digits and '_', and 40 at most. Name it "
                "with ledger=NAME.");
  bool const is_service = !is_uri(text) && !text.empty() && text.find('=') == std::string::npos;
  if (is_service) text = "service='" + text + "'";
  // The message of libpq shows what it could not read, which may be a password.
  std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> const options(PQconninfoParse(text.c_str(), nullptr),
                                                                               PQconninfoFree);
  if (options == nullptr)
    throw Error(ErrorKind::bad_argument,
                "The address of the PostgreSQL server cannot be read. Write postgresql://HOST/DATABASE?ledger=NAME, or "
                "words as host=HOST dbname=DATABASE, or the name of a service in ~/.pg_service.conf.");
  for (PQconninfoOption const* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr || *option->val == '\0') continue;
    std::string_view const word = option->keyword;
    if (std::string_view(option->dispchar).starts_with('*'))
      throw Error(ErrorKind::bad_argument,
                  "The address of the PostgreSQL server has a " + std::string(word) +
                      " in it, which other users may see. Put it into ~/.pgpass or the file that PGPASSFILE names, and "
                      "leave it out here.");
    words.emplace_back(word, option->val);
    if (word == "host" || word == "hostaddr" || word == "port" || word == "dbname" || word == "service")
      name += std::string(name.empty() ? "" : " ") + std::string(word) + "=" + option->val;
  }
  name = "ledger '" + schema + "' in PostgreSQL (" + (name.empty() ? "the default server" : name) + ")";
}

}  // namespace penstock
