// SPDX-License-Identifier: Apache-2.0
// Datagrams with sequence numbers that come reordered, doubled or not at all: each goes into its row of a tile, and a
// GPU, or the CPU where there is none, sums the rows that are present. Two senders, of which each loses, doubles and
// reorders some on purpose.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/records/windows.hpp>
#include <sys/socket.h>
#include <unistd.h>

using namespace penstock;

namespace {

constexpr std::size_t senders = 2, words = 64, rows = 128;
constexpr std::uint32_t each = 10'000, first_number = 60'000;  // Numbers of 16 bits wrap on the way.

struct Datagram {
  std::uint16_t sender = 0, number = 0;
  std::array<std::uint32_t, words> values = {};
};

/// Counts that the senders and the receiver of this program share.
struct Account {
  std::atomic<std::uint64_t> sent{0}, received{0}, left_out{0}, doubled{0};
  std::atomic<std::size_t> done{0};
};

void be_a_sender(std::uint16_t sender, sockaddr_in const& to, Account& account) {
  std::mt19937 random(sender);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order;
  for (std::uint32_t k = 0; k < each; ++k) {
    std::uint32_t const chance = k == 0 || k + 1 == each ? 99 : random() % 100;
    std::uint32_t const copies = chance == 0 ? 0 : chance == 1 ? 2 : 1;
    if (copies == 0) ++account.left_out;
    if (copies == 2) ++account.doubled;
    for (std::uint32_t copy = 0; copy < copies; ++copy) order.emplace_back(k + random() % 20, k);
  }
  std::sort(order.begin(), order.end());
  int const socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  for (auto const& [when, k] : order) {
    Datagram datagram{.sender = sender, .number = static_cast<std::uint16_t>(first_number + k)};
    for (std::uint32_t j = 0; j < words; ++j) datagram.values[j] = k + j;
    while (account.sent - account.received > 64)
      std::this_thread::yield();  // The pause keeps the system from dropping
                                  // any.
    ++account.sent;
    sendto(socket, &datagram, sizeof datagram, 0, reinterpret_cast<sockaddr const*>(&to), sizeof to);
  }
  close(socket);
  ++account.done;
}

/// Returns the socket, and its address in `at`.
int receiving_socket(sockaddr_in& at) {
  int const socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof at;
  if (bind(socket, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) {
    throw Error(ErrorKind::system, "No port of the loopback interface is free.");
  }
  getsockname(socket, reinterpret_cast<sockaddr*>(&at), &bytes);
  timeval const patience{.tv_sec = 0, .tv_usec = 100'000};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return socket;
}

/// Returns the sum of word 0 of all records that were placed.
std::uint64_t receive_all(int socket, ReorderBuffer& buffer, Account& account) {
  std::uint64_t sum = 0;
  while (account.done < senders || account.received < account.sent) {
    Datagram datagram;
    if (recv(socket, &datagram, sizeof datagram, 0) != sizeof datagram) continue;
    auto const record = std::as_bytes(std::span(datagram.values));
    if (buffer.place(datagram.sender, datagram.number, record) == Placed::placed) sum += datagram.values[0];
    ++account.received;
  }
  return sum;
}

}  // namespace

int main() try {
  auto const device = open_device();
  Pipeline pipeline(*device, {.tile = {.input_bytes = rows * words * sizeof(std::uint32_t),
                                       .output_bytes = words * sizeof(std::uint64_t),
                                       .more_input_bytes = {present_mask_bytes(rows)}}});
  auto const stage = on_device([](DeviceTile const& tile, StreamRef stream) {
    auto const mask = tile.more_inputs[0].subspan(sizeof(RowsOfTile)).as<std::uint32_t const>();
    sum_present_rows(tile.input.as<std::uint32_t const>(), mask, tile.output.as<std::uint64_t>(), stream);
  });
  std::uint64_t summed = 0, present = 0, tiles = 0;
  pipeline.start(stage, [&](Completion& done) {
    if (!done.ok()) return;
    summed += elements<std::uint64_t>(done.loan->produced_output())[0];
    present += rows_of(*done.loan).present;
    ++tiles;
  });

  sockaddr_in at{};
  int const socket = receiving_socket(at);
  Account account;
  ReorderBuffer buffer(pipeline, {.record_bytes = words * sizeof(std::uint32_t),
                                  .sequence_bits = 16,
                                  .streams = senders,
                                  .linger = std::chrono::seconds(5)});
  std::vector<std::jthread> threads;
  for (std::uint16_t k = 0; k < senders; ++k) threads.emplace_back(be_a_sender, k, at, std::ref(account));
  std::uint64_t const sum = receive_all(socket, buffer, account);
  close(socket);
  Report const report = pipeline.drain([&] { buffer.flush(); });

  ReorderCounts const counts = buffer.counts();
  std::printf("%s\n%llu rows in %llu tiles; word 0 of all is %llu\n", describe(counts).c_str(),
              static_cast<unsigned long long>(present), static_cast<unsigned long long>(tiles),
              static_cast<unsigned long long>(summed));
  bool const right = summed == sum && present == counts.placed && counts.received() == account.received &&
                     counts.lost == account.left_out && counts.duplicates == account.doubled &&
                     counts.placed + counts.lost == senders * each;
  return report.ok() && right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
