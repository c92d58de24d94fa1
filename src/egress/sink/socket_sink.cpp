// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <mutex>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "egress/sink/sink_writer.hpp"
#include "engine/core/failure_text.hpp"
#include "engine/core/own_process.hpp"
#include "engine/core/say.hpp"
#include "engine/machine/net_address.hpp"
#include "penstock/egress/sinks.hpp"

namespace penstock {
namespace {

/// Connects a socket to an address.
///
/// Returns: 0, or the errno of what failed; ECANCELED at a stop.
int connect_to(NetAddress const& address, Descriptor& socket, Ending const& ending) {
  bool const is_unix = address.family() == AF_UNIX;
  // A non-blocking socket would not connect at all to a local server whose queue is full.
  int const flags = SOCK_STREAM | SOCK_CLOEXEC | (is_unix ? 0 : SOCK_NONBLOCK);
  socket.shut();
  socket.number = ::socket(address.family(), flags, 0);
  if (socket.number < 0) return errno;
  if (connect(socket.number, address.raw(), address.bytes) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!Outlet(socket.number).await_room(ending, true, std::nullopt)) return ECANCELED;
  int problem = 0;
  socklen_t bytes = sizeof problem;
  return getsockopt(socket.number, SOL_SOCKET, SO_ERROR, &problem, &bytes) == 0 ? problem : errno;
}

Descriptor& connected(std::string const& address, Descriptor& socket, Ending const& ending) {
  std::string_view const text = address;
  bool const is_unix = text.substr(0, 5) == "unix:";
  if (!is_unix && text.substr(0, 4) != "tcp:")
    throw Error(ErrorKind::bad_argument,
                "'" + address + "' is no address to connect to: it begins with tcp: or unix:.");
  int problem = 0;
  auto const all = is_unix ? std::vector{unix_address(text.substr(5))} : resolve(text.substr(4), SOCK_STREAM);
  for (NetAddress const& one : all) {
    problem = connect_to(one, socket, ending);
    if (problem == 0 || problem == ECANCELED) break;
  }
  if (problem == ECANCELED) throw Error(ErrorKind::system, address + " was not connected when a stop was requested.");
  if (problem != 0)
    throw Error(ErrorKind::system, "Nothing can be sent to " + address + ": " + system_problem(problem) +
                                       "; see that its server runs, or name another.");
  int const on = 1;
  // The data written is all there is for now.
  if (!is_unix) setsockopt(socket.number, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

/// Discards data from a peer until it ends, or `patience` is over, or a stop comes meanwhile. Unread or later data
/// would make the system end the connection by a reset, and drop data that the peer does not have yet.
void await_end_of(int socket, std::chrono::milliseconds patience, Ending const& ending) {
  bool const at_stop = !ending.requested();
  auto const give_up = std::chrono::steady_clock::now() + patience;
  for (;;) {
    char unread[4096];
    ssize_t const got = recv(socket, unread, sizeof unread, MSG_DONTWAIT);
    auto const left = std::max<std::chrono::nanoseconds>(give_up - std::chrono::steady_clock::now(), {});
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return;
    if (got > 0 && left.count() > 0) continue;
    timespec const time{.tv_sec = left.count() / 1'000'000'000, .tv_nsec = left.count() % 1'000'000'000};
    pollfd waited[]{{.fd = socket, .events = POLLIN, .revents = 0},
                    {.fd = at_stop ? ending.descriptor() : -1, .events = POLLIN, .revents = 0}};
    int const ready = ppoll(waited, 2, &time, nullptr);
    if (left.count() == 0 || waited[1].revents != 0 || (ready < 0 && errno != EINTR)) return;
  }
}

}  // namespace

class SocketSink::Parts {
 public:
  Parts(std::string const& address, SinkOptions const& options)
      : name_(address),
        patience_(options.patience),
        ending_(options.stop),
        writer_({.name = address, .instead = "name another address"}, connected(address, socket_, ending_).number,
                options, ending_, tally_) {}
  Parts(Parts const&) = delete;
  Parts& operator=(Parts const&) = delete;
  ~Parts() {
    try {
      if (!writer_.failed()) close();
    } catch (std::exception const& failure) {
      say("%s", failure.what());
    }
    linger const at_once{.l_onoff = 1, .l_linger = 0};
    if (writer_.failed()) setsockopt(socket_.number, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }

  void append(std::span<std::byte const> records) {
    std::lock_guard const lock(mutex_);
    expect_open();
    writer_.append(records);
  }
  void flush() {
    std::lock_guard const lock(mutex_);
    expect_open();
    writer_.flush();
  }
  void close() {
    std::lock_guard const lock(mutex_);
    if (std::exchange(closed_, true)) return;
    writer_.flush();
    writer_.expect_none(shutdown(socket_.number, SHUT_WR) != 0 ? errno : 0);
    await_end_of(socket_.number, patience_, ending_);
  }
  SinkCounts counts() const noexcept { return tally_.counts(); }

  OwnProcess const process;

 private:
  void expect_open() const {
    if (closed_) throw Error(ErrorKind::bad_argument, name_ + " is closed. Append records before.");
  }

  std::mutex mutable mutex_;
  std::string const name_;
  std::chrono::milliseconds const patience_;
  Ending const ending_;
  SinkTally tally_;
  Descriptor socket_;
  SinkWriter writer_;
  bool closed_ = false;
};

SocketSink::SocketSink(std::string const& address, SinkOptions const& options)
    : parts_(std::make_unique<Parts>(address, options)) {}
SocketSink::~SocketSink() {
  left_to_parent(parts_);
}

void SocketSink::append(std::span<std::byte const> records) {
  parts_->append(records);
}
void SocketSink::flush() {
  parts_->flush();
}
void SocketSink::close() {
  parts_->close();
}
SinkCounts SocketSink::counts() const noexcept {
  return parts_->counts();
}

}  // namespace penstock
