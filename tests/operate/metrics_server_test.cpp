// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "operate/http_server.hpp"
#include "penstock/error.hpp"
#include "penstock/operate/operation.hpp"

namespace penstock {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// Returns what the port answers to a request for the path.
std::string get(std::uint16_t port, std::string const& path, std::string const& headers = "",
                std::string const& method = "GET") {
  int const one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(port);
  std::string answer;
  if (connect(one, reinterpret_cast<sockaddr const*>(&to), sizeof to) == 0) {
    std::string const request = method + " " + path + " HTTP/1.1\r\nHost: here\r\n" + headers + "\r\n";
    EXPECT_EQ(send(one, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
    std::array<char, 4096> some{};
    for (ssize_t got = 0; (got = recv(one, some.data(), some.size(), 0)) > 0;) {
      answer.append(some.data(), static_cast<std::size_t>(got));
    }
  }
  close(one);
  return answer;
}

struct AServerOfMetrics : testing::Test {
  static MetricSource one(char const* name, double value) {
    return [name, value](std::vector<Metric>& all) {
      all.push_back({.name = name, .help = "A value.", .samples = {{.value = value}}});
    };
  }
};

TEST_F(AServerOfMetrics, AnswersWithThoseOfAllSources) {
  MetricsServer const server("127.0.0.1:0", {one("first", 1), one("second", 2)});
  std::string const answer = get(server.port(), "/metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\n# HELP first A value.\n# TYPE first gauge\nfirst 1\n"));
  EXPECT_THAT(answer, EndsWith("second 2\n"));
}

TEST_F(AServerOfMetrics, AnswersInOpenMetricsToThoseWhoAskForIt) {
  MetricsServer const server("127.0.0.1:0", {one("first", 1)});
  std::string const answer = get(server.port(), "/metrics", "Accept: application/openmetrics-text;version=1.0.0\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Type: application/openmetrics-text; version=1.0.0"));
  EXPECT_THAT(answer, EndsWith("first 1\n# EOF\n"));
}

TEST_F(AServerOfMetrics, SaysHowTheProgramIs) {
  std::atomic<bool> well{true};
  MetricsServer const server("127.0.0.1:0", {}, {.health = [&] {
                               return well ? Health() : Health{.well = false, .sentence = "cuda:0 is lost"};
                             }});
  EXPECT_THAT(get(server.port(), "/health"), testing::AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("\r\n\r\nok\n")));
  well = false;
  EXPECT_THAT(get(server.port(), "/health"),
              testing::AllOf(StartsWith("HTTP/1.1 503 "), EndsWith("\r\n\r\ncuda:0 is lost\n")));
}

TEST_F(AServerOfMetrics, SaysWhatWentWrongWithASource) {
  MetricsServer const server("127.0.0.1:0", {[](std::vector<Metric>&) { throw std::runtime_error("no count"); }});
  EXPECT_THAT(get(server.port(), "/metrics"), testing::AllOf(StartsWith("HTTP/1.1 500 "), EndsWith("no count\n")));
  EXPECT_THAT(get(server.port(), "/health"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(get(server.port(), "/"), testing::AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr("There is /metrics")));
}

/// Seen to end the process.
TEST_F(AServerOfMetrics, AnswersAlsoIfASourceThrowsWhatIsNoException) {
  MetricsServer const server("127.0.0.1:0", {[](std::vector<Metric>&) { throw 7; }});
  EXPECT_THAT(get(server.port(), "/metrics"), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(get(server.port(), "/health"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(AServerOfMetrics, AnswersAHeadWithoutAText) {
  MetricsServer const server("127.0.0.1:0", {});
  EXPECT_THAT(get(server.port(), "/health", "", "HEAD"),
              testing::AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Content-Length: 3\r\n"), EndsWith("\r\n\r\n")));
}

TEST_F(AServerOfMetrics, SaysInNumbersWhereItListens) {
  MetricsServer const by_name("localhost:0", {}), by_port("0", {});
  EXPECT_EQ(by_name.address(), "127.0.0.1:" + std::to_string(by_name.port()));
  EXPECT_EQ(by_port.address(), "0.0.0.0:" + std::to_string(by_port.port()));
}

/// A peer that has sent this, and nothing more.
struct Peer {
  Peer(std::uint16_t port, std::string const& sent) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(port);
    EXPECT_EQ(connect(socket_.number, reinterpret_cast<sockaddr const*>(&to), sizeof to), 0);
    send(sent);
  }
  void send(std::string const& text) {
    EXPECT_EQ(::send(socket_.number, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  /// All that comes until the server closes.
  std::string rest() {
    std::string all;
    std::array<char, 4096> some{};
    for (ssize_t got = 0; (got = recv(socket_.number, some.data(), some.size(), 0)) > 0;)
      all.append(some.data(), static_cast<std::size_t>(got));
    return all;
  }

 private:
  Descriptor socket_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

TEST_F(AServerOfMetrics, AnswersWhileManyPeersSendNothingOrHalfARequest) {
  MetricsServer const server("127.0.0.1:0", {});
  std::list<Peer> peers;
  for (char const* const sent :
       {"", "GET /metrics HTTP/1.1\r\nX-Slow: ", "POST /metrics HTTP/1.1\r\nContent-Length: 100000\r\n\r\nx"}) {
    for (std::size_t k = 0; k < HttpServer::most_peers; ++k) peers.emplace_back(server.port(), sent);
    EXPECT_THAT(get(server.port(), "/health"), StartsWith("HTTP/1.1 200 ")) << sent;
    EXPECT_THAT(get(server.port(), "/metrics"), StartsWith("HTTP/1.1 200 ")) << sent;
  }
}

TEST_F(AServerOfMetrics, AnswersWhatCameInPieces) {
  MetricsServer const server("127.0.0.1:0", {});
  Peer peer(server.port(), "G");
  for (char const letter : std::string("ET /health?now HTTP/1.1\r\nHost: here\r\n\r\n")) peer.send({letter});
  EXPECT_THAT(peer.rest(), testing::AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("\r\n\r\nok\n")));
}

TEST_F(AServerOfMetrics, RefusesWhatIsNoRequestAndWhatItDoesNotAnswer) {
  MetricsServer const server("127.0.0.1:0", {});
  EXPECT_THAT(Peer(server.port(), "nonsense\r\n\r\n").rest(), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Peer(server.port(), std::string(20000, 'x')).rest(), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(get(server.port(), "/metrics", "", "DELETE"), StartsWith("HTTP/1.1 405 "));
}

TEST_F(AServerOfMetrics, EndsWhileItsPeersAreSilent) {
  std::list<Peer> peers;
  MetricsServer const server("localhost:0", std::vector<MetricSource>());
  for (int k = 0; k < 3; ++k) peers.emplace_back(server.port(), "GET /");
  EXPECT_THAT(get(server.port(), "/health"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(AServerOfMetrics, NamesTheAddressThatCannotBeHad) {
  MetricsServer const server("127.0.0.1:0", {});
  std::string const taken = "127.0.0.1:" + std::to_string(server.port());
  for (std::string const& address :
       {taken, std::string("nowhere"), std::string(), std::string("127.0.0.1:99999"), std::string("203.0.113.7:0")}) {
    try {
      MetricsServer const other(address, {});
      ADD_FAILURE() << address;
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), address == taken ? ErrorKind::system : ErrorKind::bad_argument) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("\"" + address + "\""));
      EXPECT_THAT(error.what(),
                  HasSubstr(address == taken ? "another program listens there already" : "give an address"));
    }
  }
}

}  // namespace
}  // namespace penstock
