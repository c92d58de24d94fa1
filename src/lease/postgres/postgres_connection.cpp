// SPDX-License-Identifier: Apache-2.0
#include "lease/postgres/postgres_connection.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>

#include <poll.h>
#include <unistd.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Pipelines, and what a session may set, are of this version.
constexpr int oldest_server = 140000;
/// Statements whose results are awaited before others are sent: the server stops reading where nothing reads from it.
constexpr std::size_t most_unread = 64;

/// What words of the address may change. A machine that is gone is seen after about 25 s.
constexpr std::pair<char const*, char const*> defaults[] = {
    {"keepalives_idle", "10"},     {"keepalives_interval", "5"},        {"keepalives_count", "3"},
    {"tcp_user_timeout", "20000"}, {"target_session_attrs", "primary"}, {"dbname", "postgres"}};

/// The same of the server's side; acknowledged is what is on the disk; a lock that another program holds is waited for,
/// but not for ever; and statements of some microseconds are not compiled.
constexpr char const* settings =
    "set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3;"
    "set tcp_user_timeout = 20000; set idle_session_timeout = 0; set lock_timeout = '10s';"
    "set client_min_messages = error; set jit = off;"
    "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'";

/// The SQLSTATE in a message of libpq, which has it behind the word for the kind of message.
std::string state_in(std::string_view message) {
  constexpr std::size_t length = 5;
  auto const is_of_state = [](char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z');
  };
  for (std::size_t at = message.find(":  "); at != std::string_view::npos; at = message.find(":  ", at + 1)) {
    std::string_view const state = message.substr(at + 3, length);
    bool const ends =
        at + 3 + length >= message.size() || message[at + 3 + length] == ':' || message[at + 3 + length] == '\n';
    if (state.size() == length && ends && std::ranges::all_of(state, is_of_state)) return std::string(state);
  }
  return {};
}

/// True if one side does not take the other's certificate, or has none: libpq has no SQLSTATE for that. A connection
/// that is lost while TLS is agreed upon is none of these. Names of hosts and folders stand before "failed: ", and each
/// host of several has a line.
bool is_about_certificates(std::string_view message) {
  constexpr std::string_view signs[] = {"certificate", "unknown ca", "does not support SSL"}, failed = "failed: ";
  bool any = false;
  for (std::size_t at = message.find(failed); at != std::string_view::npos; at = message.find(failed, at + 1)) {
    std::string_view const reason = message.substr(at, message.find('\n', at) - at);
    if (std::ranges::none_of(signs, [&](std::string_view sign) { return reason.find(sign) != std::string_view::npos; }))
      return false;
    any = true;
  }
  return any;
}

/// The first line, without the kind of message and the SQLSTATE.
std::string words_of(std::string_view message, std::string_view state) {
  if (std::size_t const at = state.empty() ? std::string_view::npos : message.find(state);
      at != std::string_view::npos && at + state.size() + 1 < message.size())
    message.remove_prefix(at + state.size() + 1);
  message = message.substr(0, message.find('\n'));
  std::size_t const first = message.find_first_not_of(' ');
  return std::string(first == std::string_view::npos ? "no reason is known" : message.substr(first));
}

}  // namespace

char const* PostgresValue::data() const noexcept {
  if (is_null_) return nullptr;
  if (!is_binary_) return text_.c_str();
  return bytes_.data() == nullptr ? "" : bytes_.data();
}

std::uint64_t PostgresRows::changes() const {
  std::string_view const digits = PQcmdTuples(const_cast<PGresult*>(rows_.get()));
  std::uint64_t changes = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), changes);
  return changes;
}

std::int64_t PostgresRows::number(int row, int column) const noexcept {
  auto const* const bytes = reinterpret_cast<unsigned char const*>(PQgetvalue(rows_.get(), row, column));
  int const size = PQgetlength(rows_.get(), row, column);
  // Its first byte has the sign.
  std::uint64_t number = size > 1 && (bytes[0] & 0x80U) != 0 ? ~std::uint64_t{0} : 0;
  for (int k = 0; k < size; ++k) number = number << 8U | bytes[k];
  return static_cast<std::int64_t>(number);
}

std::string PostgresRows::text(int row, int column) const {
  return {PQgetvalue(rows_.get(), row, column), static_cast<std::size_t>(PQgetlength(rows_.get(), row, column))};
}

PostgresConnection::PostgresConnection(PostgresAddress const& address, std::chrono::milliseconds longest)
    : address_(address) {
  try {
    connect(longest);
    set_up();
  } catch (...) {
    PQfinish(handle_);
    throw;
  }
}

PostgresConnection::~PostgresConnection() {
  if (process_.is_current()) PQfinish(handle_);
}

void PostgresConnection::connect(std::chrono::milliseconds longest) {
  auto const until = std::chrono::steady_clock::now() + longest;
  std::string const application = "penstock lease " + std::to_string(getpid());
  std::vector<char const*> words, values;
  for (auto const& [word, value] : address_.words) {
    words.push_back(word.c_str());
    values.push_back(value.c_str());
  }
  auto const add = [&](char const* word, char const* value) {
    if (std::ranges::any_of(words, [&](char const* one) { return std::string_view(one) == word; })) return;
    words.push_back(word);
    values.push_back(value);
  };
  bool const is_named = std::ranges::any_of(address_.words, [](auto const& one) { return one.first == "service"; });
  for (auto const& [word, value] : defaults) {
    // A service may name its database.
    if (word != std::string_view("dbname")) add(word, value);
  }
  if (!is_named && getenv("PGDATABASE") == nullptr && getenv("PGSERVICE") == nullptr) add("dbname", "postgres");
  add("application_name", application.c_str());
  words.push_back(nullptr);
  values.push_back(nullptr);
  handle_ = PQconnectStartParams(words.data(), values.data(), 0);
  if (handle_ == nullptr) throw Error(ErrorKind::out_of_memory, "Out of memory.");
  PQsetErrorVerbosity(handle_, PQERRORS_VERBOSE);  // Which has the SQLSTATE.
  PQsetNoticeProcessor(
      handle_, [](void*, char const*) {}, nullptr);
  for (PostgresPollingStatusType wants = PGRES_POLLING_WRITING; wants != PGRES_POLLING_OK;) {
    if (wants == PGRES_POLLING_FAILED || PQstatus(handle_) == CONNECTION_BAD) refuse_connection();
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd one{PQsocket(handle_), static_cast<short>(wants == PGRES_POLLING_READING ? POLLIN : POLLOUT), 0};
    // Where this thread was stopped for so long, the server may have answered meanwhile.
    int const ready = poll(&one, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0)
      throw PostgresLost("The server of " + address_.name + " does not answer. Start it, or name another.");
    wants = PQconnectPoll(handle_);
  }
}

void PostgresConnection::refuse_connection() const {
  std::string const message = PQerrorMessage(handle_), state = state_in(message), words = words_of(message, state);
  if (state == "28P01" || state == "28000" || PQconnectionNeedsPassword(handle_) != 0)
    throw Error(ErrorKind::bad_argument,
                "The server of " + address_.name + " refuses this user: " + words +
                    ". Name the user in the address, put the password into ~/.pgpass, and see pg_hba.conf.");
  if (state == "3D000")
    throw Error(ErrorKind::bad_argument, "There is no such database for " + address_.name + ": " + words +
                                             ". Make it (createdb), or name another.");
  if (state.empty() && is_about_certificates(message))
    throw Error(ErrorKind::bad_argument,
                "There is no TLS with the server of " + address_.name + ": " + words +
                    ". Name the file of the authority that signed its certificate by sslrootcert in the address, and "
                    "the host as the certificate has it.");
  throw PostgresLost("The server of " + address_.name + " cannot be reached: " + words +
                     ". Start it, or name another.");
}

void PostgresConnection::set_up() {
  if (PQserverVersion(handle_) < oldest_server)
    throw Error(ErrorKind::unsupported,
                "The server of " + address_.name + " is older than PostgreSQL 14. Use one that is not.");
  run(settings);
  run("set search_path = \"" + address_.schema + "\"");
  if (PQenterPipelineMode(handle_) == 0) lose();
}

void PostgresConnection::run(std::string const& statements) {
  bool const was_pipeline = PQpipelineStatus(handle_) != PQ_PIPELINE_OFF;
  if (was_pipeline && PQexitPipelineMode(handle_) == 0) lose();
  PostgresRows const result(PQexec(handle_, statements.c_str()));
  ExecStatusType const status = PQresultStatus(result.handle());
  if (PQstatus(handle_) == CONNECTION_OK && was_pipeline) PQenterPipelineMode(handle_);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) refuse(result.handle());
}

void PostgresConnection::send(std::string_view text, std::vector<PostgresValue> const& values) {
  auto known = prepared_.find(std::string(text));
  std::string name;
  if (known != prepared_.end()) {
    name = known->second;
  } else if (auto const being = std::ranges::find(preparing_, text, &std::pair<std::string, std::string>::first);
             being != preparing_.end()) {
    name = being->second;
  } else {
    name = "s" + std::to_string(++last_name_);
    preparing_.emplace_back(text, name);
    if (PQsendPrepare(handle_, name.c_str(), preparing_.back().first.c_str(), 0, nullptr) == 0) lose();
    sent_.push_back(Sent::preparation);
  }
  std::vector<char const*> data;
  std::vector<int> sizes, formats;
  for (PostgresValue const& value : values) {
    data.push_back(value.data());
    sizes.push_back(value.size());
    formats.push_back(value.format());
  }
  if (PQsendQueryPrepared(handle_, name.c_str(), static_cast<int>(values.size()), data.data(), sizes.data(),
                          formats.data(), 1) == 0)
    lose();
  sent_.push_back(Sent::statement);
  if (sent_.size() < most_unread) return;
  if (PQsendFlushRequest(handle_) == 0 || PQflush(handle_) < 0) lose();
  receive();
}

void PostgresConnection::receive() {
  for (Sent const kind : std::exchange(sent_, {})) {
    PostgresRows result(PQgetResult(handle_));
    if (result.handle() == nullptr || PQstatus(handle_) == CONNECTION_BAD) {
      if (result.handle() != nullptr) refuse(result.handle());
      lose();
    }
    // The end of this statement's results.
    PostgresRows const end(PQgetResult(handle_));
    bool const is_failure =
        PQresultStatus(result.handle()) != PGRES_COMMAND_OK && PQresultStatus(result.handle()) != PGRES_TUPLES_OK;
    if (kind == Sent::statement || is_failure) results_.push_back(std::move(result));
  }
}

std::vector<PostgresRows> PostgresConnection::finish() {
  if (PQpipelineSync(handle_) == 0) lose();
  receive();
  auto results = std::exchange(results_, {});
  auto prepared = std::exchange(preparing_, {});
  PostgresRows const end(PQgetResult(handle_));
  auto const failed = std::ranges::find_if(results, [](PostgresRows const& one) {
    ExecStatusType const status = PQresultStatus(one.handle());
    return status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_PIPELINE_ABORTED;
  });
  if (failed != results.end()) refuse(failed->handle());
  if (PQresultStatus(end.handle()) != PGRES_PIPELINE_SYNC) lose();
  for (auto& [text, name] : prepared) prepared_.emplace(std::move(text), std::move(name));
  return results;
}

PostgresRows PostgresConnection::ask(std::string_view text, std::vector<PostgresValue> const& values) {
  send(text, values);
  return std::move(finish().front());
}

bool PostgresConnection::is_alive() noexcept {
  return PQstatus(handle_) == CONNECTION_OK && PQconsumeInput(handle_) != 0 && PQstatus(handle_) == CONNECTION_OK;
}

void PostgresConnection::lose() const {
  throw PostgresLost("The connection to the server of " + address_.name +
                     " was lost: " + words_of(PQerrorMessage(handle_), {}) + ". Start the server, or see its log.");
}

void PostgresConnection::refuse(PGresult const* result) const {
  if (result == nullptr || PQresultStatus(result) == PGRES_BAD_RESPONSE) lose();
  char const* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  char const* const message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  if (state == nullptr) lose();
  refuse(state, message == nullptr ? "" : message);
}

void PostgresConnection::refuse(std::string const& state, std::string const& message) const {
  std::string const what = address_.name + ": " + message + ". ";
  if (state == "40P01" || state == "40001") throw PostgresConflict(what + "It is tried again.");
  // 57014 and 57P05 end a statement, or a session that waits; the others all sessions.
  if (state.starts_with("08") || (state.starts_with("57P") && state != "57P05"))
    throw PostgresLost(what + "Start the server, or see its log.");
  if (state == "53100") throw LedgerUnavailable(what + "Its server finds no room on its disk: free some space.");
  if (state == "55P03") throw LedgerUnavailable(what + "Another program has it locked: end that program, and go on.");
  if (state.starts_with("53") || state.starts_with("57") || state.starts_with("58"))
    throw LedgerUnavailable(what + "See the server's log.");
  if (state == "42501")
    throw Error(ErrorKind::bad_argument,
                what + "Grant this user what docs/lease.md says, or name another user in the address.");
  if (state == "25006")
    throw Error(ErrorKind::bad_argument, what + "Name the primary server, and a user that may write.");
  if (state == "42P01" || state == "42703" || state == "42883" || state == "3F000")
    throw Error(ErrorKind::bad_argument,
                what +
                    "It is no ledger, or was removed or replaced while it was in use. Start again with the ledger "
                    "that is to be used.");
  throw Error(ErrorKind::system, what + "See the server's log (SQLSTATE " + state + ").");
}

}  // namespace penstock
