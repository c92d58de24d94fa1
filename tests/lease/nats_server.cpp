// SPDX-License-Identifier: Apache-2.0
#include "lease/nats_server.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace penstock::support {
namespace {

/// A server that is started by another process is awaited by asking now and then.
void pause() {
  poll(nullptr, 0, 5);
}

void expect(natsStatus status) {
  if (status != NATS_OK) throw std::runtime_error(natsStatus_GetText(status));
}

/// The address that the server wrote into a file of the folder; empty before.
std::string written_address(std::string const& folder) {
  for (auto const& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".ports") continue;
    std::string text;
    std::getline(std::ifstream(entry.path()), text);
    std::size_t const begin = text.find("nats://"), end = text.find('"', begin);
    if (begin != std::string::npos && end != std::string::npos) return text.substr(begin, end - begin);
  }
  return {};
}

NatsConnection connected(std::string const& address) {
  natsConnection* connection = nullptr;
  if (natsConnection_ConnectTo(&connection, address.c_str()) != NATS_OK) return nullptr;
  return NatsConnection(connection);
}

/// True also if it refuses the user.
bool is_up(std::string const& address) {
  natsConnection* connection = nullptr;
  natsStatus const status = natsConnection_ConnectTo(&connection, address.c_str());
  NatsConnection const owned(connection);
  return status == NATS_OK || status == NATS_CONNECTION_AUTH_FAILED;
}

}  // namespace

NatsServer::NatsServer(std::string folder) : folder_(std::move(folder)) {
  launch("-1", {});
  while (address_.empty()) {
    if (waitpid(process_, nullptr, WNOHANG) == process_) throw std::runtime_error("nats-server ended");
    pause();
    address_ = written_address(folder_);
  }
  while (!is_up(address_)) pause();
}

NatsServer::~NatsServer() {
  stop();
}

void NatsServer::start(std::vector<std::string> const& options) {
  std::string const port = address_.substr(address_.rfind(':') + 1);
  while (!is_up(address_)) {
    // Another program may have the port for a moment.
    if (process_ < 0 || waitpid(process_, nullptr, WNOHANG) == process_) launch(port, options);
    pause();
  }
}

void NatsServer::stop() {
  if (process_ < 0) return;
  kill(process_, SIGTERM);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

void NatsServer::launch(std::string const& port, std::vector<std::string> const& options) {
  std::vector<std::string> words{"nats-server",      "-a",    "127.0.0.1", "-p",  port,
                                 "--ports_file_dir", folder_, "-js",       "-sd", folder_ + "/store"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  std::string const log = folder_ + "/log";
  process_ = fork();
  if (process_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A shell's interrupt is for the tests.
  setsid();
  int const to = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(to, STDOUT_FILENO);
  dup2(to, STDERR_FILENO);
  execv(PENSTOCK_NATS_SERVER, raw.data());
  _exit(1);
}

NatsClient::NatsClient(std::string const& address) : connection_(connected(address)) {
  jsCtx* stream = nullptr;
  expect(natsConnection_JetStream(&stream, connection_.get(), nullptr));
  stream_.reset(stream);
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  char const* subject = "claims";
  config.Name = "CLAIMS";
  config.Subjects = &subject;
  config.SubjectsLen = 1;
  expect(js_AddStream(nullptr, stream, &config, nullptr, nullptr));
}

void NatsClient::publish(std::string const& text) const {
  expect(js_Publish(nullptr, stream_.get(), "claims", text.data(), static_cast<int>(text.size()), nullptr, nullptr));
}

void NatsClient::make_consumer_without_acknowledgement(char const* name) const {
  jsConsumerConfig config;
  jsConsumerConfig_Init(&config);
  config.Durable = name;
  config.AckPolicy = js_AckNone;
  expect(js_AddConsumer(nullptr, stream_.get(), "CLAIMS", &config, nullptr, nullptr));
}

void NatsClient::take_and_forget(char const* consumer) const {
  jsSubOptions bound;
  jsSubOptions_Init(&bound);
  bound.Stream = "CLAIMS";
  bound.Consumer = consumer;
  natsSubscription* subscription = nullptr;
  expect(js_PullSubscribe(&subscription, stream_.get(), nullptr, consumer, nullptr, &bound, nullptr));
  NatsSubscription const owned(subscription);
  natsMsgList list{};
  expect(natsSubscription_Fetch(&list, subscription, 1, 60'000, nullptr));
  natsMsgList_Destroy(&list);
}

std::int64_t NatsClient::unacknowledged(char const* consumer) const {
  jsConsumerInfo* info = nullptr;
  expect(js_GetConsumerInfo(&info, stream_.get(), "CLAIMS", consumer, nullptr, nullptr));
  return NatsConsumer(info)->NumAckPending;
}

NatsSubscription NatsClient::listening(std::string const& subject) const {
  natsSubscription* subscription = nullptr;
  expect(natsConnection_SubscribeSync(&subscription, connection_.get(), subject.c_str()));
  NatsSubscription owned(subscription);
  expect(natsConnection_Flush(connection_.get()));
  return owned;
}

void NatsClient::listen() {
  said_ = listening("$JS.ACK.>");
}

void NatsClient::listen_to_requests(std::string const& consumer) {
  asked_ = listening("$JS.API.CONSUMER.MSG.NEXT.CLAIMS." + consumer);
}

void NatsClient::answer_without_origin() {
  natsMsg* request = nullptr;
  expect(natsSubscription_NextMsg(&request, asked_.get(), 120'000));
  NatsMessage const owned(request);
  std::string const text = R"({"path": "a"})";
  said_ = listening("said");
  expect(natsConnection_PublishRequest(connection_.get(), natsMsg_GetReply(request), "said", text.data(),
                                       static_cast<int>(text.size())));
}

NatsMessage NatsClient::heard(std::string const& word) const {
  for (;;) {
    natsMsg* message = nullptr;
    expect(natsSubscription_NextMsg(&message, said_.get(), 120'000));
    NatsMessage owned(message);
    if (std::string_view(natsMsg_GetData(message)).starts_with(word)) return owned;
  }
}

void NatsClient::have_it_delivered_again() const {
  NatsMessage const at_it = heard("+WPI");
  expect(natsConnection_PublishString(connection_.get(), natsMsg_GetSubject(at_it.get()), "-NAK"));
}

}  // namespace penstock::support
