// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "moments/random_moments.hpp"
#include <sys/socket.h>

#include "engine/core/descriptor.hpp"
#include "engine/machine/net_address.hpp"
#include "ingest/net/peer.hpp"
#include "penstock/egress/sinks.hpp"
#include "penstock/ingest/files.hpp"
#include "penstock/ingest/sockets.hpp"

namespace penstock::moments {
namespace {

std::string some_of(int from, std::size_t most) {
  std::string piece(most, '\0');
  ssize_t const got = read(from, piece.data(), most);
  piece.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return piece;
}

/// A source that gets records of three senders: by connections of TCP, in files, or through a pipe.
class ThreeSenders {
 public:
  static constexpr std::uint64_t senders = 3;
  ThreeSenders(std::string const& kind, RandomMoments const& world, Pool const& pool, std::uint64_t each) {
    for (std::uint64_t k = 0; k < senders; ++k) texts_.push_back(records(k, each));
    if (kind == "connections") {
      auto made =
          std::make_unique<ConnectionSource>(std::vector<std::string>{"tcp:127.0.0.1:0"}, pool,
                                             ConnectionSourceOptions{.connections = senders, .framing = lines()});
      connections = made.get();
      for (std::string const& text : texts_) {
        threads_.emplace_back([text, at = made->addresses().front()] { support::Peer(at).send(text); });
      }
      source = std::move(made);
      return;
    }
    std::vector<std::string> paths;
    if (kind == "pipe") {
      paths = {world.path("pipe")};
      pipe_ = std::make_unique<support::PipeWriter>(paths[0]);
      threads_.emplace_back([this] {
        for (std::string const& text : texts_) pipe_->write(text);
        pipe_->end();
      });
    } else {
      for (std::uint64_t k = 0; k < senders; ++k) {
        paths.push_back(world.path(std::to_string(k)));
        std::ofstream(paths.back(), std::ios::binary) << texts_[k];
      }
    }
    source = std::make_unique<FileSource>(paths, pool, FileSourceOptions{.framing = lines()});
  }
  std::size_t bytes() const {
    std::size_t all = 0;
    for (std::string const& text : texts_) all += text.size();
    return all;
  }
  std::unique_ptr<Source> source;
  ConnectionSource const* connections = nullptr;  ///< If it is one.

 private:
  std::vector<std::string> texts_;
  std::unique_ptr<support::PipeWriter> pipe_;
  std::vector<std::jthread> threads_;
};

struct ASlowReader : RandomMoments, testing::WithParamInterface<char const*> {
  /// Takes up to `moment` bytes, nothing until the source has to wait, and then all that comes.
  void read_slowly(int from, std::size_t moment, Ingest const& ingest, Draw& draw, std::string& got) const {
    while (got.size() < moment) {
      std::string const piece = some_of(from, std::min(moment - got.size(), 1 + draw.below(2000)));
      ASSERT_NE(piece, "") << "it ended early";
      got += piece;
    }
    ingest.await_back_pressure();
  }
  void read_rest(int from, Draw& draw, std::string& got) const {
    for (std::string piece = some_of(from, 1); !piece.empty(); piece = some_of(from, 1 + draw.below(3000))) {
      got += piece;
    }
  }
  /// Nothing was lost, and what was read while the reader took nothing had room in tiles and in what the system keeps.
  void run(Draw& draw, int from, std::uint64_t each, std::size_t kept, auto const& make_sink) {
    Ingest ingest;
    ThreeSenders sent(GetParam(), *this, ingest.pipeline.pool(), each);
    auto sink = make_sink(SinkOptions{.piece_bytes = draw.below(3) * 3000});
    Report report;
    std::jthread runs([&] {
      report = ingest.run(*sent.source, [&](TileResult<> tile) { sink->append(tile.input()); });
      sink->close();
      counts_ = sink->counts();
      sink = nullptr;
      writer.shut();
    });
    if (from < 0) {
      peer.number = accept4(server.number, nullptr, nullptr, SOCK_CLOEXEC);
      from = peer.number;
    }
    std::size_t const room = kept + 2 * 6000 + Ingest::tiles * Ingest::tile_bytes + ThreeSenders::senders * 256;
    ASSERT_GT(sent.bytes(), 2 * room);
    std::string got;
    read_slowly(from, draw.below(sent.bytes() - 2 * room), ingest, draw, got);
    if (sent.connections != nullptr) {
      EXPECT_LE(sent.connections->counts().bytes, got.size() + room) << "the source did not wait";
    }
    read_rest(from, draw, got);
    peer.shut();
    reader.shut();
    runs.join();
    EXPECT_TRUE(report.ok()) << describe(report);
    Answers answers;
    answers.take(got);
    EXPECT_EQ(answers.records(), ThreeSenders::senders * each);
    EXPECT_EQ(answers.missing(), 0U);
    EXPECT_EQ(counts_.given, sent.bytes());
    EXPECT_EQ(counts_.written, sent.bytes());
    if (sent.connections != nullptr) {
      EXPECT_EQ(sent.connections->counts().bytes, sent.bytes());
      EXPECT_TRUE(sent.connections->counts().loss.none());
    }
    server.shut();
  }
  Descriptor reader, writer, server, peer;
  SinkCounts counts_;
};

TEST_P(ASlowReader, OfAPipeHoldsTheSourceAndGetsAll) {
  at_each_moment([&](Draw& draw) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    reader.number = ends[0];
    writer.number = ends[1];
    ASSERT_GE(fcntl(writer.number, F_SETPIPE_SZ, 4096), 4096);
    run(draw, reader.number, 1000, 4096, [&](SinkOptions const& options) {
      return std::make_unique<FileSink>(writer.number, "the pipe", FileSinkOptions{.writing = options});
    });
  });
}

TEST_P(ASlowReader, OfAConnectionHoldsTheSourceAndGetsAll) {
  at_each_moment([&](Draw& draw) {
    NetAddress const where = unix_address(path("socket"));
    server.number = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(bind(server.number, where.raw(), where.bytes), 0);
    ASSERT_EQ(listen(server.number, 1), 0);
    int kept = 0;  // Bytes that the system keeps of a connection, and what it counts beside them.
    socklen_t bytes = sizeof kept;
    ASSERT_EQ(getsockopt(server.number, SOL_SOCKET, SO_SNDBUF, &kept, &bytes), 0);
    run(draw, -1, 6000, static_cast<std::size_t>(kept),
        [&](SinkOptions const& options) { return std::make_unique<SocketSink>("unix:" + path("socket"), options); });
  });
}

INSTANTIATE_TEST_SUITE_P(, ASlowReader, testing::Values("connections", "files", "pipe"),
                         [](auto const& of) { return std::string(of.param); });

using DatagramsForASlowReader = RandomMoments;

TEST_F(DatagramsForASlowReader, AreAnsweredOrCountedAsDropped) {
  at_each_moment([&](Draw& draw) {
    constexpr std::uint64_t burst = 100;  // Its buffer holds fewer.
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    Descriptor reader(ends[0]), writer(ends[1]);
    ASSERT_GE(fcntl(writer.number, F_SETPIPE_SZ, 4096), 4096);
    std::stop_source stop;
    Ingest ingest;
    DatagramSource source({"udp:127.0.0.1:0"}, ingest.pipeline.pool(),
                          {.stop = stop.get_token(), .longest = 256, .linger = {}, .receive_buffer = 4096});
    support::Peer const peer(source.addresses().front());
    FileSink sink(writer.number, "the pipe", {.writing = {.piece_bytes = 0}});
    Report report;
    std::jthread runs([&] {
      report = ingest.run(source, [&](TileResult<> tile) { sink.append(tile.input()); });
      sink.close();
      writer.shut();
    });
    std::string got;
    std::uint64_t const before = draw.below(60);
    for (std::uint64_t k = 0; k < before; ++k) {
      peer.send_datagram(record(0, k));
      for (std::size_t end = got.size() + record(0, k).size(); got.size() < end;) got += some_of(reader.number, 256);
    }
    // Nothing is read any more.
    std::uint64_t sent = before;
    for (; !ingest.source_waits(); ++sent) peer.send_datagram(record(0, sent));
    for (std::uint64_t const end = sent + burst; sent < end; ++sent) peer.send_datagram(record(0, sent));
    EXPECT_GT(source.counts().dropped, 0U);
    std::jthread reads([&] {
      for (std::string piece = some_of(reader.number, 1); !piece.empty(); piece = some_of(reader.number, 2000)) {
        got += piece;
      }
    });
    for (DatagramCounts now; now.datagrams + now.dropped < sent; std::this_thread::yield()) {
      now = source.counts();
    }
    stop.request_stop();
    runs.join();
    reads.join();
    auto const counts = source.counts();
    EXPECT_FALSE(report.ok()) << "datagrams were dropped: " << describe(report);
    EXPECT_EQ(report.tiles_failed + report.tiles_cancelled, 0U);
    Answers answers;
    answers.take(got);
    EXPECT_EQ(counts.waiting, 0U);
    EXPECT_TRUE(counts.loss.none());
    EXPECT_EQ(answers.records(), counts.datagrams);
    EXPECT_EQ(answers.bytes(), counts.bytes);
    EXPECT_EQ(answers.records() + counts.dropped, sent);
  });
}

}  // namespace
}  // namespace penstock::moments
