// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "moments/random_moments.hpp"
#include <sys/wait.h>

#include "engine/core/descriptor.hpp"
#include "ingest/net/peer.hpp"
#include "penstock/ingest/files.hpp"
#include "penstock/ingest/sockets.hpp"

namespace penstock::moments {
namespace {

/// A process that writes these texts to a descriptor, one by one, and is then killed. It must leave by that signal.
class KilledSender {
 public:
  /// The process has the only copy of the descriptor that is left, if the caller closes its own.
  KilledSender(int descriptor, std::vector<std::string> const& texts) : process_(fork()) {
    if (process_ != 0) return;
    // Other threads of the test are not in this process, so it takes nothing that they may have locked.
    for (std::string const& text : texts) {
      for (std::size_t sent = 0; sent < text.size();) {
        ssize_t const more = write(descriptor, text.data() + sent, text.size() - sent);
        if (more <= 0) _exit(1);
        sent += static_cast<std::size_t>(more);
      }
    }
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  KilledSender(KilledSender const&) = delete;
  KilledSender& operator=(KilledSender const&) = delete;
  ~KilledSender() {
    int status = 0;
    EXPECT_EQ(waitpid(process_, &status, 0), process_);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "status " << status;
  }

 private:
  pid_t const process_;
};

struct AKilledSender : RandomMoments {
  static constexpr std::uint64_t each = 400;
  /// Senders 0 to 2 are killed, each at a moment of its own; 3 to 5 send all.
  void run(std::string const& address) {
    at_each_moment([&](Draw& draw) {
      Ingest ingest;
      ConnectionSource source({address.empty() ? "unix:" + path("socket") : address}, ingest.pipeline.pool(),
                              {.connections = 6, .framing = lines(), .readers = 2});
      std::vector<std::unique_ptr<KilledSender>> killed;
      std::uint64_t whole[6] = {}, unfinished = 0, bytes = 0;
      for (std::uint64_t k = 0; k < 3; ++k) {
        std::string const text = records(k, each);
        std::size_t const moment = draw.below(text.size());
        whole[k] = whole_records(text.substr(0, moment));
        unfinished += records(k, whole[k]).size() != moment ? 1U : 0U;
        bytes += moment;
        support::Peer const peer(source.addresses().front());
        killed.push_back(std::make_unique<KilledSender>(peer.descriptor(), std::vector{text.substr(0, moment)}));
      }
      std::vector<std::jthread> others;
      for (std::uint64_t k = 3; k < 6; ++k) {
        whole[k] = each;
        bytes += records(k, each).size();
        others.emplace_back([k, at = source.addresses().front()] { support::Peer(at).send(records(k, each)); });
      }
      Answers answers;
      Report const report = ingest.run(source, [&](TileResult<> tile) { answers.take(tile.input()); });
      EXPECT_EQ(report.ok(), unfinished == 0) << describe(report);
      for (std::uint64_t k = 0; k < 6; ++k) EXPECT_EQ(answers.of(k), whole[k]) << "sender " << k;
      EXPECT_EQ(answers.missing(), 0U);
      auto const counts = source.counts();
      EXPECT_EQ(counts.bytes, bytes);
      EXPECT_EQ(counts.loss, RecordLoss{.unfinished = unfinished});
      EXPECT_EQ(counts.closed, 6U);
      EXPECT_EQ(counts.open + counts.broken + counts.damaged + counts.refused, 0U);
    });
  }
};

TEST_F(AKilledSender, OfAConnectionOfTcpCostsOnlyTheRecordThatItHadBegun) {
  run("tcp:127.0.0.1:0");
}

TEST_F(AKilledSender, OfAConnectionOfTheUnixDomainCostsOnlyTheRecordThatItHadBegun) {
  run("");
}

TEST_F(AKilledSender, OfDatagramsCostsNoneOfThoseThatItSent) {
  at_each_moment([&](Draw& draw) {
    std::stop_source stop;
    Ingest ingest;
    DatagramSource source({"udp:127.0.0.1:0"}, ingest.pipeline.pool(), {.stop = stop.get_token(), .longest = 256});
    Answers answers;
    Report report;
    std::jthread runs([&] { report = ingest.run(source, [&](TileResult<> tile) { answers.take(tile.input()); }); });
    std::vector<std::string> texts(draw.below(each));
    for (std::uint64_t k = 0; k < texts.size(); ++k) texts[k] = record(0, k);
    { KilledSender const killed(support::Peer(source.addresses().front()).descriptor(), texts); }
    support::Peer const other(source.addresses().front());
    for (std::uint64_t k = 0; k < each; ++k) other.send_datagram(record(1, k));
    std::uint64_t const sent = texts.size() + each;
    for (DatagramCounts now; now.datagrams + now.dropped < sent; std::this_thread::yield()) now = source.counts();
    stop.request_stop();
    runs.join();
    EXPECT_EQ(report.ok(), source.counts().dropped == 0) << describe(report);
    EXPECT_EQ(answers.records() + source.counts().dropped, sent);
    EXPECT_EQ(answers.bytes(), source.counts().bytes);
  });
}

TEST_F(AKilledSender, OfAPipeCostsOnlyTheRecordThatItHadBegun) {
  at_each_moment([&](Draw& draw) {
    Ingest ingest;
    // A line in front of whose bytes their number stands: the last line of a stream may lack its end.
    std::string text;
    std::vector<std::size_t> ends;
    for (std::uint64_t k = 0; k < each; ++k) {
      std::string const line = record(0, k);
      text += static_cast<char>(line.size()) + line;
      ends.push_back(text.size());
    }
    std::size_t const moment = draw.below(text.size());
    auto const whole = static_cast<std::uint64_t>(std::ranges::upper_bound(ends, moment) - ends.begin());
    bool const unfinished = moment != 0 && (whole == 0 || ends[whole - 1] != moment);
    int ends_of_pipe[2];
    ASSERT_EQ(pipe2(ends_of_pipe, O_CLOEXEC), 0);
    Descriptor const reader(ends_of_pipe[0]);
    FileSource source(
        [&, given = false]() mutable -> std::optional<InputFile> {
          if (std::exchange(given, true)) return std::nullopt;
          return InputFile{.path = "the pipe", .descriptor = reader.number};
        },
        ingest.pipeline.pool(), {.framing = length_prefixed({.bytes = 1, .more = 1})});
    KilledSender const killed(ends_of_pipe[1], {text.substr(0, moment)});
    close(ends_of_pipe[1]);
    Answers answers;
    Report const report = ingest.run(source, [&](TileResult<> tile) {
      each_record(*length_prefixed({.bytes = 1, .more = 1}), tile.input(),
                  [&](std::span<std::byte const> one) { answers.take(one.subspan(1)); });
    });
    EXPECT_EQ(report.ok(), !unfinished) << describe(report);
    EXPECT_EQ(answers.records(), whole);
    EXPECT_EQ(answers.missing(), 0U);
    EXPECT_EQ(report.bytes_in, whole == 0 ? 0 : ends[whole - 1]);
    EXPECT_EQ(source.loss(), RecordLoss{.unfinished = unfinished ? 1U : 0U});
  });
}

}  // namespace
}  // namespace penstock::moments
