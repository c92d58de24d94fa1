// SPDX-License-Identifier: Apache-2.0
// A server: lines that peers send go through a GPU, or through the CPU where there is none, and are counted for each
// connection. `029_sockets tcp:*:9000` serves until ctrl-C; without an address it has peers of its own.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <netinet/in.h>
#include <penstock/ingest/sockets.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/operate/operation.hpp>
#include <sys/socket.h>
#include <unistd.h>

using namespace penstock;

namespace {

constexpr int peers = 3, lines_each = 1000;

/// Sends lines, and half of a line.
void be_a_peer(std::string const& address) {
  int const socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  if (connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) {
    std::string text;
    for (int k = 0; k < lines_each; ++k) text += "line " + std::to_string(k) + "\n";
    text += "half a li";
    for (std::size_t sent = 0; sent < text.size();) {
      ssize_t const more = send(socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (more <= 0) break;
      sent += static_cast<std::size_t>(more);
    }
  }
  close(socket);
}

}  // namespace

int main(int count, char** words) try {
  StopSignals const signals;  // It must come before any other thread.
  bool const own = count < 2;
  std::string const address = own ? "tcp:127.0.0.1:0" : words[1];
  ConnectionSourceOptions options{.stop = signals.token(), .framing = lines()};
  if (own) options.connections = peers;

  auto const device = open_device();
  Pipeline pipeline(*device, {.tile = {.input_bytes = 1 << 20}});
  auto const stage = on_device([](DeviceTile const&, StreamRef) {});  // Yours, on the lines that are on the device.
  std::map<std::uint64_t, std::uint64_t> lines_of;
  ConnectionSource source({address}, pipeline.pool(), options);
  std::printf("listening at %s\n", source.addresses().front().c_str());
  std::vector<std::jthread> threads;
  for (int k = 0; own && k < peers; ++k) threads.emplace_back(be_a_peer, source.addresses().front());
  Report const report = pipeline.run(source, stage, [&](Completion& done) {
    if (!done.ok()) return;
    // No line is cut, and each stretch is of one connection.
    for (Stretch const& stretch : source.stretches_of(*done.loan)) {
      auto const bytes = done.loan->filled_input().subspan(stretch.offset, stretch.bytes);
      each_record(*lines(), bytes, [&](std::span<std::byte const>) { ++lines_of[stretch.from]; });
    }
  });

  for (auto const& [connection, lines] : lines_of) {
    std::printf("connection %llu: %llu lines\n", static_cast<unsigned long long>(connection),
                static_cast<unsigned long long>(lines));
  }
  for (std::string const& remark : report.remarks) std::printf("%s\n", remark.c_str());
  if (!report.left_out.empty()) std::printf("%s\n", describe(report.left_out).c_str());
  // Its own peers end within a line each, which is lost.
  bool right = !own || (lines_of.size() == peers && source.counts().loss.unfinished == peers);
  for (auto const& [connection, lines] : lines_of) right = right && (!own || lines == lines_each);
  return (own ? right && report.tiles_failed == 0 : report.ok()) ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
