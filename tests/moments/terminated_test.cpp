// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "moments/random_moments.hpp"
#include <sys/socket.h>
#include <sys/wait.h>

#include "engine/core/descriptor.hpp"
#include "ingest/net/peer.hpp"

namespace penstock::moments {
namespace {

/// The program of service.cpp. It must leave with code 0 and with nothing left.
class Service {
 public:
  Service(std::string const& address, std::string const& out) {
    int ends[2] = {};
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    said_.number = ends[0];
    Descriptor writer(ends[1]);
    process_ = fork();
    if (process_ == 0) {
      dup2(ends[1], 1);
      execl(PENSTOCK_MOMENTS_SERVICE, PENSTOCK_MOMENTS_SERVICE, address.c_str(), out.c_str(), nullptr);
      _exit(3);
    }
    writer.shut();
    address_ = line();
  }
  Service(Service const&) = delete;
  Service& operator=(Service const&) = delete;

  /// Returns where it listens.
  std::string const& address() const { return address_; }
  void terminate() const { EXPECT_EQ(kill(process_, SIGTERM), 0); }
  /// Sums that it says it came to.
  struct Sums {
    int ok = 0;
    unsigned long long received = 0, written = 0, unfinished = 0, waiting = 0, dropped = 0;
  };
  /// Blocks: until it has ended.
  Sums end() {
    Sums sums;
    std::string const text = line();
    EXPECT_EQ(std::sscanf(text.c_str(), "%d %llu %llu %llu %llu %llu", &sums.ok, &sums.received, &sums.written,
                          &sums.unfinished, &sums.waiting, &sums.dropped),
              6)
        << text;
    EXPECT_EQ(line(), "");
    int status = 0;
    EXPECT_EQ(waitpid(process_, &status, 0), process_);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
    return sums;
  }

 private:
  /// The next line that it prints, without its end; empty if it prints no more.
  std::string line() const {
    std::string text;
    for (char byte = 0; read(said_.number, &byte, 1) == 1 && byte != '\n';) text += byte;
    return text;
  }
  pid_t process_;
  Descriptor said_;
  std::string address_;
};

/// The output has the records of these senders up to one, and what was received has less than another of each.
struct ATerminatedService : RandomMoments {
  static constexpr std::uint64_t each = 400;
  void expect_drained(Service::Sums const& sums, std::uint64_t senders) const {
    EXPECT_EQ(sums.ok, 1);
    Answers answers;
    answers.take(content("out"));
    EXPECT_EQ(answers.missing(), 0U);
    EXPECT_EQ(answers.bytes(), sums.written);
    ASSERT_LE(sums.written, sums.received);
    std::uint64_t most = 0;
    for (std::uint64_t k = 0; k < senders; ++k) most += record(k, answers.of(k)).size() - 1;
    EXPECT_LE(sums.received - sums.written, most) << "it received whole records that it did not answer";
    EXPECT_LE(sums.unfinished, senders);
    EXPECT_EQ(sums.unfinished == 0, sums.received == sums.written) << "unfinished: " << sums.unfinished;
  }
  /// Blocks: until the service has answered something.
  void await_answer() const {
    while (content("out").empty()) std::this_thread::yield();
  }
  /// Two peers send alternately, in pieces of a random size, and SIGTERM comes after a random number of bytes.
  void connect_to(std::string const& address) {
    at_each_moment([&](Draw& draw) {
      Service service(address.empty() ? "unix:" + path("socket") : address, path("out"));
      std::vector<support::Peer> peers;
      std::vector<std::string> texts;
      for (std::uint64_t k = 0; k < 2; ++k) {
        peers.emplace_back(service.address());
        texts.push_back(records(k, each));
      }
      std::size_t const first = record(0, 0).size();
      std::size_t const moment = first + draw.below(texts[0].size() + texts[1].size() - first);
      std::size_t at[2] = {first}, sent = first;
      peers[0].send(record(0, 0));
      await_answer();
      bool struck = false, ended = false;
      while (!ended && sent < texts[0].size() + texts[1].size()) {
        std::size_t const k = draw.below(2);
        std::size_t most = std::min(1 + draw.below(300), texts[k].size() - at[k]);
        if (!struck) most = std::min(most, moment - sent);
        ssize_t const more = send(peers[k].descriptor(), texts[k].data() + at[k], most, MSG_NOSIGNAL);
        ended = more < 0;
        at[k] += ended ? 0 : static_cast<std::size_t>(more);
        sent += ended ? 0 : static_cast<std::size_t>(more);
        if (!struck && sent == moment) {
          service.terminate();
          struck = true;
        }
      }
      auto const sums = service.end();
      expect_drained(sums, 2);
      EXPECT_LE(sums.received, sent);
    });
  }
};

TEST_F(ATerminatedService, AnswersAllThatItReceivedByTcp) {
  connect_to("tcp:127.0.0.1:0");
}

TEST_F(ATerminatedService, AnswersAllThatItReceivedInTheUnixDomain) {
  connect_to("");
}

TEST_F(ATerminatedService, AnswersAllDatagramsThatItReceived) {
  at_each_moment([&](Draw& draw) {
    Service service("udp:127.0.0.1:0", path("out"));
    support::Peer const peer(service.address());
    std::uint64_t const moment = 1 + draw.below(each - 1);
    peer.send_datagram(record(0, 0));
    await_answer();
    for (std::uint64_t k = 1; k < each; ++k) {
      if (k == moment) service.terminate();
      // Once its socket is closed the system refuses datagrams.
      std::string const text = record(0, k);
      static_cast<void>(!send(peer.descriptor(), text.data(), text.size(), 0));
    }
    auto const sums = service.end();
    EXPECT_EQ(sums.ok, sums.dropped == 0 ? 1 : 0);
    Answers answers;
    answers.take(content("out"));
    EXPECT_EQ(answers.bytes(), sums.written);
    EXPECT_EQ(sums.written, sums.received);
    EXPECT_LE(answers.missing(), sums.dropped + sums.waiting);
    EXPECT_LE(answers.records() + sums.dropped + sums.waiting, each);
  });
}

TEST_F(ATerminatedService, AnswersAllThatItReadOfAPipe) {
  at_each_moment([&](Draw& draw) {
    ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
    Descriptor const pipe(open(path("pipe").c_str(), O_RDWR | O_CLOEXEC));
    Service service("pipe:" + path("pipe"), path("out"));
    std::string const text = records(0, each);
    std::size_t const moment = 1 + draw.below(text.size());
    ASSERT_GE(fcntl(pipe.number, F_SETPIPE_SZ, 1 << 20), static_cast<int>(text.size())) << "or else it waits for ever";
    ASSERT_EQ(write(pipe.number, text.data(), moment), static_cast<ssize_t>(moment));
    int left = 1;
    // It has a tile with records then, and a part of one.
    while (left != 0) ASSERT_EQ(ioctl(pipe.number, FIONREAD, &left), 0);
    service.terminate();
    ASSERT_EQ(write(pipe.number, text.data() + moment, text.size() - moment),
              static_cast<ssize_t>(text.size() - moment));
    auto sums = service.end();
    ASSERT_EQ(ioctl(pipe.number, FIONREAD, &left), 0);
    sums.received = text.size() - static_cast<std::size_t>(left);
    expect_drained(sums, 1);
  });
}

TEST_F(ATerminatedService, AnswersWholeLinesOfALogThatItFollows) {
  at_each_moment([&](Draw& draw) {
    Service service("log:" + path("log"), path("out"));
    std::uint64_t const moment = 1 + draw.below(each - 1);
    std::ofstream log(path("log"), std::ios::binary);
    log << record(0, 0) << std::flush;
    await_answer();
    for (std::uint64_t k = 1; k < each; ++k) {
      std::string const text = record(0, k);
      std::size_t const part = draw.below(text.size());
      log << text.substr(0, part) << std::flush;
      if (k == moment) service.terminate();
      log << text.substr(part) << std::flush;
    }
    auto const sums = service.end();
    EXPECT_EQ(sums.ok, 1);
    Answers answers;
    answers.take(content("out"));
    EXPECT_EQ(answers.missing(), 0U);
    EXPECT_EQ(answers.bytes(), sums.written);
    EXPECT_EQ(sums.written, sums.received);
  });
}

}  // namespace
}  // namespace penstock::moments
