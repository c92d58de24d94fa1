// SPDX-License-Identifier: Apache-2.0
#include "lease/nats/nats_link.hpp"

#include <climits>
#include <fstream>
#include <string_view>
#include <utility>

#include "penstock/error.hpp"
#include "penstock/lease/ledger.hpp"

namespace penstock {
namespace {

/// In milliseconds.
constexpr std::int64_t between_connections = 250;

void check_address(std::string const& address) {
  constexpr std::string_view scheme = "nats://";
  if (!address.starts_with(scheme) || address.size() == scheme.size())
    throw Error(ErrorKind::bad_argument, "This is no address of a NATS server: it is nats://HOST:PORT.");
  if (address.find('@') != std::string::npos)
    throw Error(ErrorKind::bad_argument,
                "The address of the NATS server has a user in it, which others may see there: name a file with user "
                "and password (NatsOptions::password_file).");
}

/// User and password, as the file has them.
std::pair<std::string, std::string> user_of(std::string const& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  std::size_t const colon = line.find(':');
  if (colon == std::string::npos)
    throw Error(ErrorKind::bad_argument, path + " has no line USER:PASSWORD for the NATS server, or cannot be read.");
  return {line.substr(0, colon), line.substr(colon + 1)};
}

bool is_refusal(natsStatus status) {
  return status == NATS_CONNECTION_AUTH_FAILED || status == NATS_NOT_PERMITTED;
}

}  // namespace

NatsLink::NatsLink(std::string address, std::string const& password_file) : address_(std::move(address)) {
  check_address(address_);
  natsOptions* made = nullptr;
  expect(natsOptions_Create(&made));
  NatsSettings const settings(made);
  expect(natsOptions_SetURL(made, address_.c_str()));
  expect(natsOptions_SetName(made, "penstock"));
  expect(natsOptions_SetTimeout(made, longest_answer));
  expect(natsOptions_SetMaxReconnect(made, INT_MAX));
  expect(natsOptions_SetReconnectWait(made, between_connections));
  expect(natsOptions_SetFailRequestsOnDisconnect(made, true));
  if (!password_file.empty()) {
    auto const [user, password] = user_of(password_file);
    expect(natsOptions_SetUserInfo(made, user.c_str(), password.c_str()));
  }
  natsConnection* connection = nullptr;
  natsStatus const connected = natsConnection_Connect(&connection, made);
  if (is_refusal(connected)) refused();
  expect(connected);
  connection_.reset(connection);
}

void NatsLink::expect(natsStatus status) const {
  if (status == NATS_OK) return;
  if (connection_ && natsConnection_IsClosed(get())) closed();
  throw LedgerUnavailable("The NATS server at " + address_ + " does not do what it is asked: " +
                          natsStatus_GetText(status) + ". See that it runs, with JetStream.");
}

void NatsLink::expect_connection() const {
  if (natsConnection_Status(get()) != NATS_CONN_STATUS_CONNECTED) expect(NATS_CONNECTION_DISCONNECTED);
}

/// The library closes a connection for good once its user was refused twice.
void NatsLink::closed() const {
  char const* text = nullptr;
  natsStatus const why = natsConnection_GetLastError(get(), &text);
  if (is_refusal(why)) refused();
  throw Error(ErrorKind::system, "The connection to the NATS server at " + address_ + " is closed for good: " +
                                     (text != nullptr && *text != 0 ? text : natsStatus_GetText(why)) +
                                     ". Start this process again; what it held comes again.");
}

void NatsLink::refused() const {
  throw Error(ErrorKind::bad_argument, "The NATS server at " + address_ +
                                           " refuses this user. Name a file with its USER:PASSWORD by "
                                           "password_file.");
}

}  // namespace penstock
