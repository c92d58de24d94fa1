// SPDX-License-Identifier: Apache-2.0
// usage: penstock_moments_service ADDRESS OUT
// Writes the lines that come to OUT until SIGTERM, and then prints what it came to. ADDRESS begins with tcp:, unix: or
// udp: as sockets.hpp has it, with pipe: for a named pipe, or with log: for a file that is followed. The first line
// that it prints is the address.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "moments/random_moments.hpp"

#include "penstock/egress/sinks.hpp"
#include "penstock/ingest/files.hpp"
#include "penstock/ingest/sockets.hpp"
#include "penstock/operate/operation.hpp"

namespace penstock::moments {
namespace {

/// Counts of a source beside its tiles.
struct Counts {
  std::uint64_t received = 0, unfinished = 0, waiting = 0, dropped = 0;
};

void serve(std::string const& address, std::string const& out, std::stop_token const& stop) {
  Ingest ingest;
  Pool const& pool = ingest.pipeline.pool();
  FileSink sink(out, {.writing = {.piece_bytes = 0}});
  auto const run = [&](Source& source, std::string const& at) {
    std::printf("%s\n", at.c_str());
    std::fflush(stdout);
    return ingest.run(source, [&](TileResult<> tile) { sink.append(tile.input()); });
  };
  Report report;
  Counts counts;
  if (address.starts_with("udp:")) {
    DatagramSource source({address}, pool, {.stop = stop, .longest = 256});
    report = run(source, source.addresses().front());
    auto const now = source.counts();
    counts = {now.bytes, 0, now.waiting, now.dropped};
  } else if (address.starts_with("pipe:") || address.starts_with("log:")) {
    bool const follow = address.starts_with("log:");
    FileSourceOptions options{.stop = stop, .framing = lines(), .follow = follow};
    if (!follow) options.linger.reset();  // SIGTERM then finds a tile that is being filled.
    FileSource source({address.substr(address.find(':') + 1)}, pool, options);
    report = run(source, address);
    counts = {report.bytes_in, source.loss().unfinished, 0, 0};
  } else {
    ConnectionSource source({address}, pool, {.stop = stop, .framing = lines()});
    report = run(source, source.addresses().front());
    counts = {source.counts().bytes, source.counts().loss.unfinished, 0, 0};
  }
  sink.close();
  std::printf("%d %llu %llu %llu %llu %llu\n", report.ok() ? 1 : 0, static_cast<unsigned long long>(counts.received),
              static_cast<unsigned long long>(sink.counts().written),
              static_cast<unsigned long long>(counts.unfinished), static_cast<unsigned long long>(counts.waiting),
              static_cast<unsigned long long>(counts.dropped));
}

}  // namespace
}  // namespace penstock::moments

int main(int count, char** words) {
  if (count != 3) return 2;
  penstock::StopSignals const signals;  // Comes before any other thread.
  std::size_t const descriptors = penstock::support::open_descriptors();
  penstock::moments::serve(words[1], words[2], signals.token());
  // The thread of StopSignals is still there.
  bool const left = penstock::moments::own_threads() > 1 || penstock::support::open_descriptors() != descriptors;
  if (left) std::printf("a thread or a descriptor is left\n");
  return left || testing::Test::HasFailure() ? 1 : 0;
}
