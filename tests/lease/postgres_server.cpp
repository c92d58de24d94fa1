// SPDX-License-Identifier: Apache-2.0
#include "lease/postgres_server.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace penstock::support {
namespace {

/// The server refuses to be run by root. Another user runs it then.
passwd const* other_user() {
  if (geteuid() != 0) return nullptr;
  passwd const* const own = getpwnam("postgres");
  return own != nullptr ? own : getpwnam("nobody");
}

bool become(passwd const* other) {
  return other == nullptr || (setgroups(0, nullptr) == 0 && setgid(other->pw_gid) == 0 && setuid(other->pw_uid) == 0);
}

/// A server that is started or ended by another process is awaited by asking now and then.
void pause() {
  poll(nullptr, 0, 5);
}

/// One that has ended counts as gone, whether another process has asked how or not.
bool is_there(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return false;
  std::size_t const state = text.rfind(')') + 2;
  return state < text.size() && text[state] != 'Z' && text[state] != 'X';
}

}  // namespace

bool PostgresServer::can_be_run() {
  passwd const* const other = other_user();
  if (other == nullptr) return geteuid() != 0;
  pid_t const child = fork();
  if (child == 0) _exit(become(other) ? 0 : 1);
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0;
}

PostgresServer::PostgresServer(std::vector<std::string> settings) : settings_(std::move(settings)) {
  make_folder();
  run({"initdb", "-D", folder_ + "/data", "-A", "trust", "-U", "penstock", "--no-sync", "--no-locale", "-E", "UTF8"});
  std::ofstream(folder_ + "/data/pg_hba.conf") << "local all guarded scram-sha-256\nlocal all,replication all trust\n"
                                                  "hostssl all all 127.0.0.0/8 trust\n";
  start();
}

PostgresServer::PostgresServer(StandbyOf of) {
  make_folder();
  run({"pg_basebackup", "-D", folder_ + "/data", "-h", of.primary.folder(), "-U", "penstock", "--write-recovery-conf",
       "--checkpoint=fast", "--no-sync"});
  start();
}

void PostgresServer::make_folder() {
  // The path of a socket has 107 letters at most.
  std::string pattern = "/tmp/penstock-pg-XXXXXX";
  folder_ = mkdtemp(pattern.data());
  if (passwd const* const other = other_user();
      other != nullptr && chown(folder_.c_str(), other->pw_uid, other->pw_gid) != 0)
    throw std::runtime_error("no folder for PostgreSQL");
  chmod(folder_.c_str(), 0755);
}

void PostgresServer::run(std::vector<std::string> const& words) const {
  pid_t const program = launch(words);
  int status = 0;
  if (waitpid(program, &status, 0) != program || status != 0)
    throw std::runtime_error(words.front() + " failed: see " + folder_ + "/log");
}

PostgresServer::~PostgresServer() {
  if (!own_process_.is_current()) return;
  // It takes its shared memory with it, as after SIGKILL it does not.
  if (process_ > 0 && ::kill(process_, SIGQUIT) == 0) waitpid(process_, nullptr, 0);
  std::error_code problem;
  std::filesystem::remove_all(folder_, problem);
}

pid_t PostgresServer::launch(std::vector<std::string> const& words) const {
  std::vector<std::string> own = words;
  own.front() = std::string(PENSTOCK_POSTGRES_PROGRAMS) + "/" + own.front();
  std::vector<char*> raw;
  for (std::string& word : own) raw.push_back(word.data());
  raw.push_back(nullptr);
  passwd const* const other = other_user();
  std::string const log = folder_ + "/log";
  pid_t const child = fork();
  if (child != 0) return child;
  if (!become(other)) _exit(1);
  prctl(PR_SET_PDEATHSIG, SIGQUIT);
  // A shell's interrupt is for the tests.
  setsid();
  int const to = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(to, STDOUT_FILENO);
  dup2(to, STDERR_FILENO);
  int const from = open("/dev/null", O_RDONLY);
  dup2(from, STDIN_FILENO);
  execv(raw.front(), raw.data());
  _exit(1);
}

void PostgresServer::start() {
  for (int attempts = 0;; pause()) {
    if (process_ < 0) {
      // After a hard end, processes of the last one may be there for a moment: the new one refuses to start then.
      if (++attempts > 1000) throw std::runtime_error("the server does not start: see " + folder_ + "/log");
      // What nothing waits for stays in memory, so that a hard end loses it.
      std::vector<std::string> program{"postgres", "-D", folder_ + "/data", "-k", folder_};
      for (char const* const setting : {"listen_addresses=", "max_connections=60", "shared_buffers=16MB",
                                        "recovery_init_sync_method=fsync", "wal_writer_delay=10s"})
        program.insert(program.end(), {"-c", setting});
      for (std::string const& setting : settings_) program.insert(program.end(), {"-c", setting});
      process_ = launch(program);
    }
    if (PQping(words().c_str()) == PQPING_OK) return;
    if (waitpid(process_, nullptr, WNOHANG) == process_) process_ = -1;
  }
}

void PostgresServer::kill() {
  if (process_ < 0) return;
  std::vector<pid_t> all{process_};
  // Sessions would go on for a moment where only the first process is killed. That makes no new ones while it is
  // stopped.
  ::kill(process_, SIGSTOP);
  waitpid(process_, nullptr, WUNTRACED);
  std::string const number = std::to_string(process_);
  std::ifstream children("/proc/" + number + "/task/" + number + "/children");
  for (pid_t child = 0; children >> child;) all.push_back(child);
  for (pid_t const one : all) ::kill(one, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
  for (pid_t const one : all) {
    while (is_there(one)) pause();
  }
}

void PostgresServer::crash(pid_t session) const {
  ::kill(session, SIGKILL);
  // Its entry stays until the server has made its shared memory anew.
  auto const is_over = [&] {
    try {
      return ask("select count(*) from pg_stat_activity where pid = " + std::to_string(session)) == "0";
    } catch (std::runtime_error const&) {
      return false;
    }
  };
  while (!is_over()) pause();
}

std::string PostgresServer::address(std::string const& ledger, std::string const& words) const {
  return "postgresql:///postgres?host=" + folder_ + words + "&ledger=" + ledger;
}

std::string PostgresServer::ask(std::string const& statements) const {
  std::unique_ptr<PGconn, void (*)(PGconn*)> const connection(PQconnectdb(words().c_str()), PQfinish);
  PQclear(PQexec(connection.get(), "set client_min_messages = error"));
  std::unique_ptr<PGresult, void (*)(PGresult*)> const result(PQexec(connection.get(), statements.c_str()), PQclear);
  ExecStatusType const status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    throw std::runtime_error(PQerrorMessage(connection.get()));
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

void PostgresServer::await_none(std::string const& count) const {
  while (ask(count) != "0") pause();
}

PostgresServer& shared_postgres_server() {
  static PostgresServer server;
  return server;
}

}  // namespace penstock::support
