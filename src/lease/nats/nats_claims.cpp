// SPDX-License-Identifier: Apache-2.0
#include "penstock/lease/nats_claims.hpp"

#include <algorithm>
#include <climits>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "lease/nats/claim_check.hpp"
#include "lease/nats/nats_handles.hpp"
#include "lease/nats/nats_link.hpp"

#include "engine/core/own_process.hpp"
#include "engine/core/say.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Milliseconds for which an exchange waits for messages, and what was settled meanwhile waits for the next.
constexpr std::int64_t longest_fetch = 50;
constexpr std::int64_t ns_per_ms = 1'000'000;

/// Milliseconds for which a message rests that was delivered so often, and failed.
std::int64_t rest_after(std::uint32_t tries) {
  return std::min<std::int64_t>(std::int64_t{25} << std::min(tries, 10U), 5000);
}

}  // namespace

class NatsClaims::Parts {
 public:
  Parts(std::string const& address, NatsOptions options)
      : options_(std::move(options)), link_(address, options_.password_file) {
    open_stream();
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
    link_.expect(js_PullSubscribe(&subscription, stream_.get(), nullptr, bound.Consumer, nullptr, &bound, nullptr));
    subscription_.reset(subscription);
  }
  Parts(Parts const&) = delete;
  Parts& operator=(Parts const&) = delete;
  ~Parts() {
    for (auto const& [number, held] : held_) natsMsg_Nak(held.message.get(), nullptr);
    natsConnection_FlushTimeout(link_.get(), NatsLink::longest_answer);
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
           link_.address() + ", at least once";
  }

  OwnProcess const process;

 private:
  struct Held {
    std::uint32_t tries = 0;
    NatsMessage message = {};
  };
  /// Messages that were fetched. The server hands out again what is still here at the end: at once or, if that does not
  /// reach it, later.
  struct Fetched {
    natsMsgList list = {};
    std::map<std::uint64_t, Held> claims = {};

    Fetched() = default;
    Fetched(Fetched const&) = delete;
    Fetched& operator=(Fetched const&) = delete;
    ~Fetched() {
      for (auto const& [number, claim] : claims) natsMsg_Nak(claim.message.get(), nullptr);
      for (int k = 0; k < list.Count; ++k)
        if (list.Msgs[k] != nullptr) natsMsg_Nak(list.Msgs[k], nullptr);
      natsMsgList_Destroy(&list);
    }
    NatsMessage pass_on(int index) noexcept { return NatsMessage(std::exchange(list.Msgs[index], nullptr)); }
  };

  void open_stream() {
    jsOptions answers;
    jsOptions_Init(&answers);
    answers.Wait = NatsLink::longest_answer;
    jsCtx* stream = nullptr;
    link_.expect(natsConnection_JetStream(&stream, link_.get(), &answers));
    stream_.reset(stream);
  }

  NatsConsumer find_consumer() {
    jsConsumerInfo* found = nullptr;
    auto code = jsErrCode{};
    natsStatus status =
        js_GetConsumerInfo(&found, stream_.get(), options_.stream.c_str(), options_.consumer.c_str(), nullptr, &code);
    if (code == JSStreamNotFoundErr)
      throw Error(ErrorKind::bad_argument, "There is no stream " + options_.stream + " at " + link_.address() +
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
    link_.expect(status);
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
        link_.expect(natsMsg_AckSync(message, nullptr, nullptr));
        break;
      case Settlement::Kind::give_back:
        link_.expect(natsMsg_Nak(message, nullptr));
        break;
      case Settlement::Kind::fail:
      case Settlement::Kind::suspect:
        link_.expect(natsMsg_NakWithDelay(message, rest_after(settlement.tries), nullptr));
        break;
      case Settlement::Kind::park:
        link_.expect(natsMsg_Term(message, nullptr));
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
    link_.expect_connection();
    Fetched fetched;
    natsStatus const status =
        natsSubscription_Fetch(&fetched.list, subscription_.get(),
                               static_cast<int>(std::min<std::size_t>(most, INT_MAX)), longest_fetch, nullptr);
    std::vector<Lease> taken;
    if (status == NATS_TIMEOUT || status == NATS_NOT_FOUND) return taken;
    link_.expect(status);
    for (int k = 0; k < fetched.list.Count; ++k) {
      natsMsg* const message = fetched.list.Msgs[k];
      jsMsgMetaData* of_message = nullptr;
      if (natsMsg_GetMetaData(&of_message, message) != NATS_OK) continue;
      NatsOrigin const origin(of_message);
      std::uint64_t const number = origin->Sequence.Stream;
      auto const tries = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(origin->NumDelivered, std::numeric_limits<std::uint32_t>::max()));
      auto work = claim_check({natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))});
      if (!work) {
        // If that does not reach the server, the message comes again.
        natsMsg_Term(fetched.pass_on(k).get(), nullptr);
        say_parked(number, "it is no claim check, such as {\"path\": \"/data/1.bin\"}.");
        continue;
      }
      taken.push_back({.number = number, .tries = tries, .charged = tries, .work = *std::move(work)});
      Held& claim = fetched.claims[number];
      claim.tries = tries;
      claim.message = fetched.pass_on(k);
    }
    std::ranges::sort(taken, {}, [](Lease const& lease) { return std::pair(lease.number, lease.tries); });
    // Nothing fails from here on. What is held of an earlier try is void.
    for (auto const& [number, claim] : fetched.claims) held_.erase(number);
    held_.merge(fetched.claims);
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
    for (auto const& [number, held] : held_) link_.expect(natsMsg_InProgress(held.message.get(), nullptr));
    heard_ = std::chrono::steady_clock::now();
  }

  NatsOptions const options_;
  NatsLink const link_;
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
