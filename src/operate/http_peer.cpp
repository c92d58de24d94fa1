// SPDX-License-Identifier: Apache-2.0
#include "operate/http_peer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <optional>
#include <string_view>

#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

namespace penstock {
namespace {

/// End of the headers, behind their empty line; nothing if they are incomplete.
std::optional<std::size_t> end_of_headers(std::string_view text) {
  for (std::string_view const end : {"\r\n\r\n", "\n\n"}) {
    if (auto const at = text.find(end); at != std::string_view::npos) return at + end.size();
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
  return text.substr(0, text.find_last_not_of(blank) + 1);
}

/// The value of a header; several lines are joined by commas.
std::string value_of(std::string_view headers, std::string_view name) {
  std::string all;
  while (!headers.empty()) {
    std::string_view const line = headers.substr(0, headers.find('\n'));
    headers.remove_prefix(std::min(line.size() + 1, headers.size()));
    if (line.size() <= name.size() || line[name.size()] != ':') continue;
    if (strncasecmp(line.data(), name.data(), name.size()) != 0) continue;
    all += (all.empty() ? "" : ",") + std::string(trimmed(line.substr(name.size() + 1)));
  }
  return all;
}

std::string as_sent(HttpAnswer const& answer, bool with_text) {
  return std::string("HTTP/1.1 ") + answer.status + "\r\nContent-Type: " + answer.type +
         "\r\nContent-Length: " + std::to_string(answer.text.size()) + "\r\nConnection: close\r\n\r\n" +
         (with_text ? answer.text : "");
}

/// Makes the answer to the headers, which end with an empty line.
std::string answer_to(std::string_view headers, HttpAnswerer const& answerer) {
  std::string_view line = trimmed(headers.substr(0, headers.find('\n')));
  auto const word = [&line] {
    std::string_view const first = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(first.size() + 1, line.size()));
    return first;
  };
  std::string_view const method = word(), target = word(), version = word();
  if (target.empty() || target.front() != '/' || !version.starts_with("HTTP/1."))
    return as_sent({.status = "400 Bad Request", .text = "That is no request of HTTP/1.1.\n"}, true);
  if (method != "GET" && method != "HEAD")
    return as_sent({.status = "405 Method Not Allowed", .text = "Ask by GET or HEAD.\n"}, true);
  HttpAnswer answer;
  try {
    answer =
        answerer({.path = std::string(target.substr(0, target.find('?'))), .accepted = value_of(headers, "Accept")});
  } catch (std::exception const& exception) {
    answer = {.status = "500 Internal Server Error", .text = std::string(exception.what()) + "\n"};
  } catch (...) {
    answer = {.status = "500 Internal Server Error", .text = "What answers threw something that is no exception.\n"};
  }
  return as_sent(answer, method != "HEAD");
}

bool comes_later() noexcept {
  return errno == EAGAIN || errno == EINTR;
}

}  // namespace

short HttpPeer::events() const noexcept {
  return at_ == At::answer ? POLLOUT : POLLIN;
}

bool HttpPeer::go_on(Clock::time_point now, HttpAnswerer const& answerer) {
  if (now >= until_) return false;
  if (at_ == At::request) return read_request(now, answerer);
  return at_ == At::answer ? send_answer(now) : drop_rest();
}

bool HttpPeer::read_request(Clock::time_point now, HttpAnswerer const& answerer) {
  std::array<char, 4096> some;
  ssize_t const got = recv(socket_.number, some.data(), some.size(), 0);
  if (got <= 0) return got < 0 && comes_later();
  text_.append(some.data(), static_cast<std::size_t>(got));
  if (auto const end = end_of_headers(text_)) {
    text_ = answer_to(std::string_view(text_).substr(0, *end), answerer);
  } else if (text_.size() > most_headers) {
    text_ = as_sent({.status = "431 Request Header Fields Too Large", .text = "Ask with shorter headers.\n"}, true);
  } else {
    return true;
  }
  at_ = At::answer;
  until_ = now + to_take;
  return send_answer(now);
}

bool HttpPeer::send_answer(Clock::time_point now) {
  while (sent_ < text_.size()) {
    ssize_t const took = send(socket_.number, text_.data() + sent_, text_.size() - sent_, MSG_NOSIGNAL);
    if (took < 0) return comes_later();
    sent_ += static_cast<std::size_t>(took);
  }
  // Shuts down first: closing while bytes of the peer are unread would discard the answer.
  if (shutdown(socket_.number, SHUT_WR) != 0) return false;
  at_ = At::end;
  until_ = now + to_leave;
  return drop_rest();
}

bool HttpPeer::drop_rest() {
  std::array<char, 4096> some;
  ssize_t const got = recv(socket_.number, some.data(), some.size(), 0);
  return got > 0 || (got < 0 && comes_later());
}

}  // namespace penstock
