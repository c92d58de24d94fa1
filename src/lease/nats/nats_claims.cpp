// SPDX-License-Identifier: Apache-2.0
#include "penstock/lease/nats_claims.hpp"

#include <algorithm>
#include <climits>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lease/nats/claim_check.hpp"
#include "lease/nats/nats_handles.hpp"

#include "engine/core/own_process.hpp"
#include "engine/core/say.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Milliseconds until an answer of the server is missing.
constexpr std::int64_t longest_answer = 2000;
constexpr std::int64_t between_connections = 250;
/// Milliseconds for which an exchange waits for messages, and what was settled meanwhile waits for the next.
constexpr std::int64_t longest_fetch = 50;
constexpr std::int64_t ns_per_ms = 1'000'000;

/// Milliseconds for which a message rests that was delivered so often, and failed.
std::int64_t rest_after(std::uint32_t tries) {
  return std::min<std::int64_t>(std::int64_t{25} << std::min(tries, 10U), 5000);
}

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

}  // namespace

class NatsClaims::Parts {
 public:
  Parts(std::string const& address, NatsOptions options) : address_(address), options_(std::move(options)) {
    check_address(address);
    connect();
    NatsConsumer const consumer = find_consumer();
    jsConsumerConfig const& config = *consumer->Config;
    if (config.DeliverSubject != nullptr || config.AckPolicy != js_AckExplicit)
      throw Error(ErrorKind::bad_argument, "The consumer " + options_.consumer + " of the stream " + options_.stream +
                                               " is pushed, or not acknowledged one by one: name one that is pulled, "
                                               "with explicit acknowledgement, or one that is not there.");
    // With a list of times until a message is handed out again the first of them counts.
    silence_ = std::chrono::milliseconds((config.BackOffLen > 0 ? config.BackOff[0] : config.AckWait) / ns_per_ms);
    jsSubOptions bound;
    jsSubOptions_Init(&bound);
    bound.Stream = options_.stream.c_str();
    bound.Consumer = options_.consumer.c_str();
    natsSubscription* subscription = nullptr;
    expect(js_PullSubscribe(&subscription, stream_.get(), nullptr, bound.Consumer, nullptr, &bound, nullptr));
    subscription_.reset(subscription);
  }
  Parts(Parts const&) = delete;
  Parts& operator=(Parts const&) = delete;
  ~Parts() {
    for (auto const& [number, held] : held_) natsMsg_Nak(held.message.get(), nullptr);
    natsConnection_FlushTimeout(connection_.get(), longest_answer);
  }

  Exchange exchange(std::span<Settlement const> settlements, std::size_t most) {
    std::lock_guard const lock(mutex_);
    if (std::chrono::steady_clock::now() - heard_ >= silence_ / 8) say_alive();
    Exchange result;
    for (std::size_t index = 0; index < settlements.size(); ++index) {
      std::string reason = settle(settlements[index]);
      if (!reason.empty()) result.refused.push_back({index, std::move(reason)});
    }
    if (most > 0) result.taken = take(most);
    result.finished = options_.until_empty && most > 0 && held_.empty() && is_empty();
    settled_.clear();
    return result;
  }

  void keep_alive() {
    std::lock_guard const lock(mutex_);
    say_alive();
  }

  std::chrono::milliseconds silence() const noexcept { return silence_; }
  std::string text() const {
    return "claim checks of the consumer " + options_.consumer + " of the stream " + options_.stream + " at " +
           address_ + ", at least once";
  }

  OwnProcess const process;

 private:
  struct Held {
    std::uint32_t tries = 0;
    NatsMessage message = {};
  };

  void expect(natsStatus status) const {
    if (status == NATS_OK) return;
    throw LedgerUnavailable("The NATS server at " + address_ + " does not do what it is asked: " +
                            natsStatus_GetText(status) + ". See that it runs, with JetStream.");
  }

  void connect() {
    natsOptions* made = nullptr;
    expect(natsOptions_Create(&made));
    NatsSettings const settings(made);
    expect(natsOptions_SetURL(made, address_.c_str()));
    expect(natsOptions_SetName(made, "penstock"));
    expect(natsOptions_SetTimeout(made, longest_answer));
    expect(natsOptions_SetMaxReconnect(made, INT_MAX));
    expect(natsOptions_SetReconnectWait(made, between_connections));
    expect(natsOptions_SetFailRequestsOnDisconnect(made, true));
    if (!options_.password_file.empty()) {
      auto const [user, password] = user_of(options_.password_file);
      expect(natsOptions_SetUserInfo(made, user.c_str(), password.c_str()));
    }
    natsConnection* connection = nullptr;
    natsStatus const connected = natsConnection_Connect(&connection, made);
    if (connected == NATS_CONNECTION_AUTH_FAILED || connected == NATS_NOT_PERMITTED)
      throw Error(ErrorKind::bad_argument, "The NATS server at " + address_ +
                                               " refuses this user. Name a file with its USER:PASSWORD by "
                                               "password_file.");
    expect(connected);
    connection_.reset(connection);
    jsOptions answers;
    jsOptions_Init(&answers);
    answers.Wait = longest_answer;
    jsCtx* stream = nullptr;
    expect(natsConnection_JetStream(&stream, connection, &answers));
    stream_.reset(stream);
  }

  NatsConsumer find_consumer() {
    jsConsumerInfo* found = nullptr;
    auto code = jsErrCode{};
    natsStatus status =
        js_GetConsumerInfo(&found, stream_.get(), options_.stream.c_str(), options_.consumer.c_str(), nullptr, &code);
    if (code == JSStreamNotFoundErr)
      throw Error(ErrorKind::bad_argument, "There is no stream " + options_.stream + " at " + address_ +
                                               ": make it first, with the subject of the claim checks.");
    if (code == JSConsumerNotFoundErr) {
      jsConsumerConfig config;
      jsConsumerConfig_Init(&config);
      config.Durable = options_.consumer.c_str();
      config.AckPolicy = js_AckExplicit;
      config.AckWait = options_.ack_wait.count() * ns_per_ms;
      config.MaxDeliver = options_.most_tries;
      if (!options_.subject.empty()) config.FilterSubject = options_.subject.c_str();
      status = js_AddConsumer(&found, stream_.get(), options_.stream.c_str(), &config, nullptr, nullptr);
    }
    expect(status);
    return NatsConsumer(found);
  }

  /// Empty if it took effect, now or in an exchange that threw; else the reason.
  std::string settle(Settlement const& settlement) {
    auto const found = held_.find(settlement.number);
    if (found == held_.end() || found->second.tries != settlement.tries) {
      auto const before = settled_.find(settlement.number);
      if (before != settled_.end() && before->second == settlement.tries) return {};
      return "Message " + std::to_string(settlement.number) + " was delivered again, or is settled.";
    }
    natsMsg* const message = found->second.message.get();
    switch (settlement.kind) {
      case Settlement::Kind::acknowledge:
        expect(natsMsg_AckSync(message, nullptr, nullptr));
        break;
      case Settlement::Kind::give_back:
        expect(natsMsg_Nak(message, nullptr));
        break;
      case Settlement::Kind::fail:
      case Settlement::Kind::suspect:
        expect(natsMsg_NakWithDelay(message, rest_after(settlement.tries), nullptr));
        break;
      case Settlement::Kind::park:
        expect(natsMsg_Term(message, nullptr));
        say_parked(settlement.number, settlement.text.c_str());
        break;
    }
    held_.erase(found);
    settled_[settlement.number] = settlement.tries;
    return {};
  }

  void say_parked(std::uint64_t number, char const* reason) const {
    say("Message %ju of the stream %s is not handed out again: %s", std::uintmax_t{number}, options_.stream.c_str(),
        reason);
  }

  std::vector<Lease> take(std::size_t most) {
    if (natsConnection_Status(connection_.get()) != NATS_CONN_STATUS_CONNECTED) expect(NATS_CONNECTION_DISCONNECTED);
    natsMsgList list{};
    natsStatus const status = natsSubscription_Fetch(
        &list, subscription_.get(), static_cast<int>(std::min<std::size_t>(most, INT_MAX)), longest_fetch, nullptr);
    std::vector<Lease> taken;
    if (status == NATS_TIMEOUT || status == NATS_NOT_FOUND) return taken;
    expect(status);
    std::vector<NatsMessage> messages;
    for (int k = 0; k < list.Count; ++k) messages.emplace_back(std::exchange(list.Msgs[k], nullptr));
    natsMsgList_Destroy(&list);
    for (NatsMessage& message : messages) {
      jsMsgMetaData* of_message = nullptr;
      if (natsMsg_GetMetaData(&of_message, message.get()) != NATS_OK) continue;
      NatsOrigin const origin(of_message);
      std::uint64_t const number = origin->Sequence.Stream;
      auto const tries = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(origin->NumDelivered, std::numeric_limits<std::uint32_t>::max()));
      auto work =
          claim_check({natsMsg_GetData(message.get()), static_cast<std::size_t>(natsMsg_GetDataLength(message.get()))});
      if (!work) {
        // If that does not reach the server, the message comes again.
        natsMsg_Term(message.get(), nullptr);
        say_parked(number, "it is no claim check, such as {\"path\": \"/data/1.bin\"}.");
        continue;
      }
      held_.insert_or_assign(number, Held{.tries = tries, .message = std::move(message)});
      taken.push_back({.number = number, .tries = tries, .charged = tries, .work = *std::move(work)});
    }
    std::ranges::sort(taken, {}, [](Lease const& lease) { return std::pair(lease.number, lease.tries); });
    return taken;
  }

  /// True if no message waits, or is out to any process.
  bool is_empty() const {
    jsConsumerInfo* found = nullptr;
    natsStatus const status =
        js_GetConsumerInfo(&found, stream_.get(), options_.stream.c_str(), options_.consumer.c_str(), nullptr, nullptr);
    NatsConsumer const consumer(found);
    return status == NATS_OK && consumer->NumPending == 0 && consumer->NumAckPending == 0;
  }

  void say_alive() {
    for (auto const& [number, held] : held_) expect(natsMsg_InProgress(held.message.get(), nullptr));
    heard_ = std::chrono::steady_clock::now();
  }

  std::string const address_;
  NatsOptions const options_;
  NatsConnection connection_;
  NatsJetStream stream_;
  NatsSubscription subscription_;
  std::chrono::milliseconds silence_{0};
  std::mutex mutex_;                                ///< Guards all below.
  std::map<std::uint64_t, Held> held_;              ///< Messages that are not settled.
  std::map<std::uint64_t, std::uint32_t> settled_;  ///< Tries that an exchange which threw has settled.
  std::chrono::steady_clock::time_point heard_ = std::chrono::steady_clock::now();
};

NatsClaims::NatsClaims(std::string const& address, NatsOptions options)
    : parts_(std::make_unique<Parts>(address, std::move(options))) {}

NatsClaims::~NatsClaims() {
  left_to_parent(parts_);
}

Exchange NatsClaims::exchange(std::span<Settlement const> settlements, std::size_t most) {
  return parts_->exchange(settlements, most);
}

void NatsClaims::keep_alive() {
  parts_->keep_alive();
}

std::chrono::milliseconds NatsClaims::silence() const {
  return parts_->silence();
}

std::string NatsClaims::describe() const {
  return parts_->text();
}

}  // namespace penstock
