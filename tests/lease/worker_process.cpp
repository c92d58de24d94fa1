// SPDX-License-Identifier: Apache-2.0
#include "lease/worker_process.hpp"

#include <csignal>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace penstock::support {

WorkerProcess::WorkerProcess(std::vector<std::string> const& arguments) {
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  Descriptor const its_input(to[0]), its_output(from[1]);
  to_it_.number = to[1];
  from_it_.number = from[0];
  std::vector<std::string> words{PENSTOCK_LEASE_WORKER};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, its_input.number, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, its_output.number, STDOUT_FILENO);
  int const problem = posix_spawn(&process_, PENSTOCK_LEASE_WORKER, &actions, nullptr, raw.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) throw std::runtime_error("no worker");
}

WorkerProcess::~WorkerProcess() {
  if (process_ > 0) kill(SIGKILL);
}

void WorkerProcess::tell(std::string const& line) const {
  std::string const text = line + "\n";
  if (write(to_it_.number, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("the worker is gone");
}

std::string WorkerProcess::hear() const {
  std::string answer;
  for (char one = 0; read(from_it_.number, &one, 1) == 1;) {
    if (one == '\n') return answer;
    answer += one;
  }
  return "it is gone";
}

int WorkerProcess::wait() {
  int status = 0;
  if (waitpid(process_, &status, 0) != process_) throw std::runtime_error("no such worker");
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void WorkerProcess::kill(int signal) {
  send(signal);
  wait();
}

void WorkerProcess::send(int signal) const {
  ::kill(process_, signal);
}

void WorkerProcess::stop() const {
  send(SIGSTOP);
  if (waitpid(process_, nullptr, WUNTRACED) != process_) throw std::runtime_error("no such worker");
}

std::vector<std::uint64_t> numbers_in(std::string const& line) {
  std::istringstream words(line);
  std::string first;
  words >> first;
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t number = 0; words >> number;) numbers.push_back(number);
  return numbers;
}

}  // namespace penstock::support
