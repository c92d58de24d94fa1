// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>

#include <sys/socket.h>

#include "penstock/core/descriptor.hpp"
#include "penstock/core/event_count.hpp"
#include "penstock/core/number_text.hpp"
#include "penstock/core/shared_library.hpp"
#include "penstock/error.hpp"
#include "penstock/metrics.hpp"
#include "penstock/net/net_address.hpp"
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
  find(calls.get_request_info, "mg_get_request_info");
  find(calls.get_header, "mg_get_header");
  find(calls.write, "mg_write");
  return calls;
}

[[noreturn]] void refuse(ErrorKind kind, std::string const& address, std::string const& why) {
  throw Error(kind, "Metrics cannot be served at \"" + address + "\": " + why + ".");
}
constexpr char const* good_address = "an address of this machine and a port up to 65535, such as 127.0.0.1:9464";

/// Says why nothing can listen at `numbers`: civetweb does not say it.
[[noreturn]] void refuse_listening(std::string const& address, NetAddress const& numbers) {
  Descriptor const one{socket(numbers.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
  int const problem = one.number < 0 || bind(one.number, numbers.raw(), numbers.bytes) == 0 ? 0 : errno;
  if (problem == EADDRINUSE) {
    refuse(ErrorKind::system, address,
           "another program listens there already; end it, or give another port, or port 0 for one that is free");
  }
  if (problem == EADDRNOTAVAIL) {
    refuse(ErrorKind::bad_argument, address,
           std::string("this machine does not have that address; give ") + good_address);
  }
  if (problem == EACCES) {
    refuse(ErrorKind::system, address, "ports below 1024 are for root; give one above, such as 9464");
  }
  refuse(ErrorKind::system, address, "nothing can listen there; give another address or port, such as 127.0.0.1:9464");
}

/// The address that this means, as a number: civetweb is not to look a name up, as it would not say what it found. Of
/// several the first one of IPv4.
NetAddress resolved(std::string const& address) try {
  bool const port_alone = whole_number_of(address, 65535).has_value();
  auto const all = resolve(port_alone ? "0.0.0.0:" + address : address, SOCK_STREAM);
  auto const four = std::ranges::find(all, AF_INET, [](NetAddress const& one) { return one.family(); });
  return four != all.end() ? *four : all.front();
} catch (Error const& error) {
  if (error.kind() != ErrorKind::bad_argument) throw;
  refuse(ErrorKind::bad_argument, address, std::string("that is no address; give ") + good_address);
}

/// Connects for a moment, so that a thread that waits for connections wakes.
void knock(NetAddress const& address) noexcept {
  Descriptor const one{socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (one.number >= 0) static_cast<void>(connect(one.number, address.raw(), address.bytes));
}

}  // namespace

class MetricsServer::Parts {
 public:
  Parts(std::string const& address, std::vector<MetricSource> sources, MetricsServerOptions options)
      : sources_(std::move(sources)),
        health_(std::move(options.health)),
        calls_(load(options.library)),
        address_(resolved(address)) {
    std::string const numbers = text_of(address_);
    std::array<char const*, 9> const settings{
        "listening_ports", numbers.c_str(),     "num_threads", "2",    "request_timeout_ms",
        "10000",           "enable_keep_alive", "no",          nullptr};
    calls_.init_library(0);
    context_ = calls_.start(nullptr, nullptr, const_cast<char const**>(settings.data()));
    if (context_ == nullptr) refuse_listening(address, address_);
    civetweb::Port port;
    if (calls_.get_server_ports(context_, 1, &port) == 1) address_.set_port(static_cast<unsigned>(port.port));
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
    while (!bell.await(has_ended, {}, std::chrono::milliseconds(5))) knock(address_);
  }
  Parts(Parts const&) = delete;
  Parts& operator=(Parts const&) = delete;

  NetAddress const& address() const noexcept { return address_; }

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

  /// A HEAD is answered by what is in front of the text.
  bool wants_text(civetweb::Connection const* connection) const {
    auto const* const request = calls_.get_request_info(connection);
    return request == nullptr || request->method == nullptr || std::string_view(request->method) != "HEAD";
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
                              "\r\nConnection: close\r\n\r\n" + (parts.wants_text(connection) ? answer.text : "");
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
  NetAddress address_;
};

MetricsServer::MetricsServer(std::string const& address, std::vector<MetricSource> sources,
                             MetricsServerOptions options)
    : parts_(std::make_unique<Parts>(address, std::move(sources), std::move(options))) {}
MetricsServer::~MetricsServer() = default;
std::uint16_t MetricsServer::port() const noexcept {
  return static_cast<std::uint16_t>(parts_->address().port());
}
std::string MetricsServer::address() const {
  return text_of(parts_->address());
}

}  // namespace penstock
