// SPDX-License-Identifier: Apache-2.0
// Seeded access logs, and lists of literals to look for in them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

/// Each line has a time, a page of a few thousand or of a few words, a status, a size and a user agent.
inline std::string some_access_log(unsigned seed, std::size_t bytes) {
  std::mt19937 random(seed);
  constexpr std::array<std::string_view, 8> words{"index",  "images", "blog",  "tags",
                                                  "static", "search", "login", "api"};
  constexpr std::array<std::string_view, 3> agents{
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/", "Googlebot/2.", "curl/7."};
  auto const number = [&](unsigned below) { return std::to_string(random() % below); };
  std::string text;
  while (text.size() < bytes) {
    text += number(224) + "." + number(256) + "." + number(256) + "." + number(256) +
            " - - [17/May/2015:10:05:" + std::to_string(10 + random() % 50) + " +0000] \"GET /";
    if (random() % 2 == 0) {
      text += "p/" + number(5000) + "/index.html";
    } else {
      for (auto k = 1 + random() % 3; k > 0; --k) text.append(words[random() % words.size()]).append("/");
      text += number(900);
    }
    text += " HTTP/1.1\" " + std::to_string(random() % 7 == 0 ? 404 : 200) + " " + number(90'000) + " \"-\" \"";
    text.append(agents[random() % agents.size()]).append(number(120)).append("\"\n");
  }
  return text;
}

/// A list of different literals.
struct LiteralList {
  std::string name;
  std::vector<std::string> literals;
};

/// `count` literals of each kind; fewer where a kind has not as many.
inline std::vector<LiteralList> lists_of_literals(std::string const& text, std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  auto const number = [&](unsigned below) { return std::to_string(random() % below); };
  auto const byte = [&] { return static_cast<char>(33 + random() % 94); };
  auto const piece = [&](std::size_t least, std::size_t most) {
    for (;;) {
      std::size_t const length = least + random() % (most - least + 1);
      std::string some = text.substr(random() % (text.size() - length), length);
      if (some.find('\n') == std::string::npos) return some;
    }
  };
  auto const word = [&] {
    for (;;) {
      std::string const some = piece(40, 40);
      std::size_t const begin = some.find_first_of(" /\"") + 1, end = some.find_first_of(" /\";,()", begin);
      if (begin != 0 && end != std::string::npos && end > begin) return some.substr(begin, end - begin);
    }
  };
  auto const random_text = [&] {
    std::string some(5 + random() % 30, ' ');
    std::ranges::generate(some, byte);
    return some;
  };
  auto const changed = [&](std::string some) {
    char& one = some[random() % some.size()];
    one = one == '~' ? '!' : static_cast<char>(one + 1);
    return some;
  };
  auto const short_text = [&](std::size_t length) {
    std::string some = piece(length, length);
    some[random() % length] = byte();
    return some;
  };
  std::string const agent = ") AppleWebKit/537.36 (KHTML, like Gecko) Chrome/";
  std::vector<LiteralList> lists;
  auto const add = [&](std::string name, auto const& make) {
    std::set<std::string> all;
    for (std::size_t tries = 0; all.size() < count && tries < 20 * count; ++tries) all.insert(make());
    lists.push_back({std::move(name), {all.begin(), all.end()}});
  };
  add("common beginning and end", [&] { return "/p/" + number(10'000) + "/index.html HTTP"; });
  add("common beginning", [&] { return "+0000] \"GET /p/" + std::to_string(1000 + random() % 9000); });
  add("common end", [&] { return number(10'000) + "/index.html HTTP/1.1\" 200"; });
  add("alike but for one byte", [&] {
    std::string some = agent;
    some[random() % some.size()] = byte();
    return some == agent ? some + "~" : some;
  });
  add("random", random_text);
  add("words of the text", word);
  add("pieces of the text", [&] { return piece(8, 40); });
  add("pieces with one byte changed", [&] { return changed(piece(12, 40)); });
  add("one byte", [&] { return short_text(1); });
  add("two bytes", [&] { return short_text(2); });
  add("three bytes", [&] { return short_text(3); });
  add("four to seven bytes", [&] { return changed(piece(4, 7)); });
  add("beginnings with ends", [&] {
    return std::to_string(10 + random() % 32) + " \"-\" \"Mozilla/5.0 (X11; Linux x86_64" + agent +
           std::to_string(10 + random() % 32);
  });
  return lists;
}

}  // namespace penstock
