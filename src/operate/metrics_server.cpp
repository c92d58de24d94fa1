// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/socket.h>

#include "engine/core/number_text.hpp"
#include "engine/machine/net_address.hpp"
#include "operate/http_server.hpp"
#include "penstock/error.hpp"
#include "penstock/operate/operation.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse(ErrorKind kind, std::string const& address, std::string const& why) {
  throw Error(kind, "Metrics cannot be served at \"" + address + "\": " + why + ".");
}
constexpr char const* good_address = "an address of this machine and a port up to 65535, such as 127.0.0.1:9464";

[[noreturn]] void refuse_listening(std::string const& address, int problem) {
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
  refuse(ErrorKind::system, address,
         "nothing can listen there (" + std::error_code(problem, std::generic_category()).message() +
             "); give another address or port, such as 127.0.0.1:9464");
}

/// The numeric address that this means. If there are several, the first one of IPv4.
NetAddress resolved(std::string const& address) try {
  bool const port_alone = whole_number_of(address, 65535).has_value();
  auto const all = resolve(port_alone ? "0.0.0.0:" + address : address, SOCK_STREAM);
  auto const four = std::ranges::find(all, AF_INET, [](NetAddress const& one) { return one.family(); });
  return four != all.end() ? *four : all.front();
} catch (Error const& error) {
  if (error.kind() != ErrorKind::bad_argument) throw;
  refuse(ErrorKind::bad_argument, address, std::string("that is no address; give ") + good_address);
}

}  // namespace

class MetricsServer::Parts {
 public:
  Parts(std::string const& address, std::vector<MetricSource> sources, MetricsServerOptions options)
      : sources_(std::move(sources)), health_(std::move(options.health)) {
    NetAddress const numbers = resolved(address);
    try {
      server_ = std::make_unique<HttpServer>(numbers, [this](HttpRequest const& request) { return answer(request); });
    } catch (std::system_error const& problem) {
      refuse_listening(address, problem.code().value());
    }
  }

  NetAddress const& address() const noexcept { return server_->address(); }

 private:
  HttpAnswer answer(HttpRequest const& request) {
    if (request.path == "/metrics") return metrics(request);
    if (request.path == "/health") return health();
    return {.status = "404 Not Found", .text = "There is /metrics, and /health.\n"};
  }
  HttpAnswer metrics(HttpRequest const& request) {
    bool const open = request.accepted.find("application/openmetrics-text") != std::string::npos;
    std::vector<Metric> all;
    for (MetricSource const& source : sources_) source(all);
    return {.type = open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                         : "text/plain; version=0.0.4; charset=utf-8",
            .text = text_of(all, open ? MetricFormat::open_metrics : MetricFormat::prometheus)};
  }
  HttpAnswer health() {
    Health const now = health_ ? health_() : Health();
    return {.status = now.well ? "200 OK" : "503 Service Unavailable", .text = now.sentence + "\n"};
  }

  std::vector<MetricSource> const sources_;
  std::function<Health()> const health_;
  std::unique_ptr<HttpServer> server_;
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
