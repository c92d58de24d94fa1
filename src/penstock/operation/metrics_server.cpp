// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "penstock/core/descriptor.hpp"
#include "penstock/core/event_count.hpp"
#include "penstock/core/shared_library.hpp"
#include "penstock/error.hpp"
#include "penstock/metrics.hpp"
#include "penstock/operation/civetweb_calls.hpp"

namespace penstock {
namespace {

constexpr char const* soname = "libcivetweb.so.1";

civetweb::Calls load(std::string const& wish) {
  std::string const name = wish.empty() ? soname : wish;
  SharedLibrary const library({name});
  if (!library.loaded()) {
    throw Error(ErrorKind::unsupported, "Metrics need the library civetweb, and " + name + " cannot be loaded (" +
                                            library.reasons() + "): install it (libcivetweb1 on Debian).");
  }
  civetweb::Calls calls;
  auto const find = [&](auto& function, char const* called) {
    library.find(function, called);
    if (function == nullptr) {
      throw Error(ErrorKind::unsupported, name + " has no " + called + ": install civetweb 1.8 or newer.");
    }
  };
  find(calls.init_library, "mg_init_library");
  find(calls.start, "mg_start");
  find(calls.stop, "mg_stop");
  find(calls.set_request_handler, "mg_set_request_handler");
  find(calls.get_server_ports, "mg_get_server_ports");
  find(calls.get_header, "mg_get_header");
  find(calls.write, "mg_write");
  return calls;
}

/// Where a server that listens at this address can be reached; empty if that has no number.
std::vector<std::byte> reached_at(std::string const& address) {
  auto const colon = address.rfind(':');
  std::string host = colon == std::string::npos ? "127.0.0.1" : address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  sockaddr_in four{};
  four.sin_family = AF_INET;
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  std::span<std::byte const> found;
  if (inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
    found = std::as_bytes(std::span(&four, 1));
  } else if (inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) {
    found = std::as_bytes(std::span(&six, 1));
  }
  return {found.begin(), found.end()};
}

/// Connects for a moment, so that a thread that waits for connections wakes.
void knock(std::vector<std::byte>& address, std::uint16_t port) noexcept {
  if (address.empty()) return;
  auto* const to = static_cast<sockaddr*>(static_cast<void*>(address.data()));
  if (to->sa_family == AF_INET) {
    static_cast<sockaddr_in*>(static_cast<void*>(to))->sin_port = htons(port);
  } else {
    static_cast<sockaddr_in6*>(static_cast<void*>(to))->sin6_port = htons(port);
  }
  Descriptor const one{socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (one.number >= 0) static_cast<void>(connect(one.number, to, static_cast<socklen_t>(address.size())));
}

}  // namespace

class MetricsServer::Parts {
 public:
  Parts(std::string const& address, std::vector<MetricSource> sources, MetricsServerOptions options)
      : sources_(std::move(sources)),
        health_(std::move(options.health)),
        calls_(load(options.library)),
        door_(reached_at(address)) {
    std::array<char const*, 9> const settings{
        "listening_ports", address.c_str(),     "num_threads", "2",    "request_timeout_ms",
        "10000",           "enable_keep_alive", "no",          nullptr};
    calls_.init_library(0);
    context_ = calls_.start(nullptr, nullptr, const_cast<char const**>(settings.data()));
    if (context_ == nullptr) {
      throw Error(ErrorKind::system, "Metrics cannot be served at \"" + address +
                                         "\": give an address of this machine and a port that is free, such as "
                                         "127.0.0.1:9464.");
    }
    civetweb::Port port;
    if (calls_.get_server_ports(context_, 1, &port) == 1) port_ = static_cast<std::uint16_t>(port.port);
    calls_.set_request_handler(context_, "/metrics$", answer<&Parts::metrics>, this);
    calls_.set_request_handler(context_, "/health$", answer<&Parts::health>, this);
    calls_.set_request_handler(context_, "/", answer<&Parts::neither>, this);
  }
  /// The thread of civetweb that waits for connections looks only every two seconds whether it is to end, or when one
  /// comes.
  ~Parts() {
    EventCount bell;
    std::atomic<bool> ended{false};
    std::jthread stops;
    try {
      stops = std::jthread([&] {
        calls_.stop(context_);
        ended.store(true, std::memory_order_release);
        bell.notify();
      });
    } catch (std::system_error const&) {
      calls_.stop(context_);
      return;
    }
    auto const has_ended = [&] { return ended.load(std::memory_order_acquire); };
    while (!bell.await(has_ended, {}, std::chrono::milliseconds(5))) knock(door_, port_);
  }
  Parts(Parts const&) = delete;
  Parts& operator=(Parts const&) = delete;

  std::uint16_t port() const noexcept { return port_; }

 private:
  struct Answer {
    char const* status = "200 OK";
    char const* type = "text/plain; charset=utf-8";
    std::string text = {};
  };

  Answer metrics(civetweb::Connection const* connection) {
    char const* const accepted = calls_.get_header(connection, "Accept");
    bool const open =
        accepted != nullptr && std::string_view(accepted).find("application/openmetrics-text") != std::string::npos;
    std::vector<Metric> all;
    {
      std::scoped_lock const lock(mutex_);
      for (MetricSource const& source : sources_) source(all);
    }
    return {.type = open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                         : "text/plain; version=0.0.4; charset=utf-8",
            .text = text_of(all, open ? MetricFormat::open_metrics : MetricFormat::prometheus)};
  }
  Answer health(civetweb::Connection const*) {
    Health const now = health_ ? health_() : Health();
    return {.status = now.well ? "200 OK" : "503 Service Unavailable", .text = now.sentence + "\n"};
  }
  Answer neither(civetweb::Connection const*) {
    return {.status = "404 Not Found", .text = "There is /metrics, and /health.\n"};
  }

  /// What civetweb calls: on its threads, several at once.
  template <Answer (Parts::*answer_to)(civetweb::Connection const*)>
  static int answer(civetweb::Connection* connection, void* user) {
    auto& parts = *static_cast<Parts*>(user);
    try {
      Answer answer;
      try {
        answer = (parts.*answer_to)(connection);
      } catch (std::exception const& exception) {
        answer = {.status = "500 Internal Server Error", .text = std::string(exception.what()) + "\n"};
      }
      std::string const all = std::string("HTTP/1.1 ") + answer.status + "\r\nContent-Type: " + answer.type +
                              "\r\nContent-Length: " + std::to_string(answer.text.size()) +
                              "\r\nConnection: close\r\n\r\n" + answer.text;
      parts.calls_.write(connection, all.data(), all.size());
    } catch (...) {
      return 0;  // Without memory for an answer, civetweb answers that there is no such page.
    }
    return 1;
  }

  std::vector<MetricSource> const sources_;
  std::function<Health()> const health_;
  std::mutex mutex_;  ///< Sources are asked by one thread at a time.
  civetweb::Calls const calls_;
  civetweb::Context* context_ = nullptr;
  std::uint16_t port_ = 0;
  std::vector<std::byte> door_;  ///< Where to knock.
};

MetricsServer::MetricsServer(std::string const& address, std::vector<MetricSource> sources,
                             MetricsServerOptions options)
    : parts_(std::make_unique<Parts>(address, std::move(sources), std::move(options))) {}
MetricsServer::~MetricsServer() = default;
std::uint16_t MetricsServer::port() const noexcept {
  return parts_->port();
}

}  // namespace penstock
