// SPDX-License-Identifier: Apache-2.0
// A NATS server of a test's own, and a client that looks at it from outside.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lease/nats/nats_handles.hpp"
#include <sys/types.h>

namespace penstock::support {

/// A server with JetStream, whose files are in a scratch folder, on a port of this machine that the system chose. It
/// ends with this, or with the process.
///
/// Threads: one at a time.
class NatsServer {
 public:
  /// Returns once it takes connections.
  explicit NatsServer(std::string folder);
  NatsServer(NatsServer const&) = delete;
  NatsServer& operator=(NatsServer const&) = delete;
  ~NatsServer();

  /// Starts it again, on the same port. Returns once it takes connections, be it to refuse their user.
  void start(std::vector<std::string> const& options = {});
  /// Ends it by SIGTERM. Returns once it is gone.
  void stop();
  /// "nats://127.0.0.1:PORT".
  std::string const& address() const noexcept { return address_; }

 private:
  void launch(std::string const& port, std::vector<std::string> const& options);

  std::string const folder_;
  std::string address_;
  pid_t process_ = -1;
};

/// A client with the stream CLAIMS, of the subject "claims".
///
/// Threads: one at a time.
class NatsClient {
 public:
  explicit NatsClient(std::string const& address);

  void publish(std::string const& text) const;
  /// Makes a durable consumer that acknowledges nothing.
  void make_consumer_without_acknowledgement(char const* name) const;
  /// Takes a message of the consumer, of which the server hears nothing more.
  void take_and_forget(char const* consumer) const;
  /// Messages of the consumer that were delivered, and not acknowledged.
  std::int64_t unacknowledged(char const* consumer) const;
  /// Listens to what others say of their messages, from now on.
  void listen();
  /// Returns once another has said this, as "+WPI": in progress.
  void await_said(std::string const& word) const { heard(word); }
  /// Listens to those that ask for messages of the consumer.
  void listen_to_requests(std::string const& consumer);
  /// Sends the first of them a message of which nothing says where it is in the stream, and listens to what is said of
  /// that.
  void answer_without_origin();
  /// Has the next message that another says it is at delivered again.
  void have_it_delivered_again() const;

 private:
  NatsSubscription listening(std::string const& subject) const;
  NatsMessage heard(std::string const& word) const;

  NatsConnection connection_;
  NatsJetStream stream_;
  NatsSubscription said_;
  NatsSubscription asked_;
};

}  // namespace penstock::support
