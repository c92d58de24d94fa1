// SPDX-License-Identifier: Apache-2.0
#include "lease/ledger_place.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "engine/core/between_processes.hpp"
#include "engine/core/failure_text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// File systems that several machines may write to, or that cannot promise what locks promise (statfs(2)).
constexpr std::array<std::pair<long, char const*>, 14> network_file_systems{{{0x6969, "NFS"},
                                                                             {0x517B, "SMB"},
                                                                             {0xFF534D42, "SMB"},
                                                                             {0xFE534D42, "SMB"},
                                                                             {0x01021997, "9P"},
                                                                             {0x65735546, "FUSE"},
                                                                             {0x00C36400, "Ceph"},
                                                                             {0x5346414F, "AFS"},
                                                                             {0x6B414653, "AFS"},
                                                                             {0x0BD00BD0, "Lustre"},
                                                                             {0x47504653, "GPFS"},
                                                                             {0x7461636F, "OCFS2"},
                                                                             {0x01161970, "GFS2"},
                                                                             {0x19830326, "BeeGFS"}}};

/// The path without links, so that all names of the file have the same files beside it.
std::string whole_path(std::string const& name) {
  std::error_code problem;
  auto const path = std::filesystem::weakly_canonical(name, problem);
  if (problem) throw Error(ErrorKind::bad_argument, name + ": " + problem.message() + ". Name another file.");
  if (std::filesystem::is_directory(path, problem))
    throw Error(ErrorKind::bad_argument, name + " is a folder. Name a file in it.");
  return path.string();
}

int open_or_refuse(std::string const& path, int flags, std::string const& name) {
  constexpr mode_t as_umask_allows = 0666;
  int opened = -1;
  do opened = open(path.c_str(), flags | O_RDWR | O_CLOEXEC | O_NOCTTY, as_umask_allows);
  while (opened < 0 && errno == EINTR);
  if (opened >= 0) return opened;
  std::error_code const problem(errno, std::generic_category());
  if (auto const error = shortage(path, problem)) throw Error(*error);
  throw Error(ErrorKind::system, name + " needs the file " + path + " beside it, which cannot be opened: " +
                                     problem.message() + ". Name a file in a folder that can be written.");
}

/// The byte of the file of locks by which processes wait for their turns. Those of owners come behind it.
constexpr std::size_t queue_byte = 0;

/// Makes a system call until no signal interrupts it. False if the system refuses; errno says why.
template <class Call>
bool until_done(Call const& call) {
  for (;;) {
    if (call() == 0) return true;
    if (errno != EINTR) return false;
  }
}

}  // namespace

std::string file_system_problem(long type) {
  // The type is a word of 32 bits, with a sign or without.
  auto const is_it = [&](auto const& one) { return static_cast<unsigned>(one.first) == static_cast<unsigned>(type); };
  auto const found = std::ranges::find_if(network_file_systems, is_it);
  if (found == network_file_systems.end()) return {};
  std::string sentence = " is on a file system of the kind ";
  sentence += found->second;
  return sentence + ", where locks do not hold. Put it on a local disk.";
}

LedgerPlace::LedgerPlace(std::string const& path, std::chrono::nanoseconds patience)
    : name_(path),
      path_(whole_path(path)),
      locks_path_(path_ + "-locks"),
      locks_(open_or_refuse(locks_path_, O_CREAT, name_)),
      turn_watch_(name_, locks_.number, patience) {
  struct statfs system {};
  if (fstatfs(locks_.number, &system) == 0) {
    std::string const problem = file_system_problem(static_cast<long>(system.f_type));
    if (!problem.empty()) {
      if (!holds_something()) std::filesystem::remove(locks_path_);
      throw Error(ErrorKind::bad_argument, name_ + problem);
    }
  }
}

bool LedgerPlace::holds_something() const {
  struct stat status {};
  return stat(path_.c_str(), &status) == 0 && status.st_size != 0;
}

void LedgerPlace::note_file() {
  struct stat status {};
  if (stat(path_.c_str(), &status) != 0)
    throw Error(ErrorKind::system, name_ + ": " + system_problem(errno) + ". Name another file.");
  if (status.st_nlink > 1)
    throw Error(
        ErrorKind::bad_argument,
        name_ + " has several names (hard links), and the files beside it would differ. Copy it, and use the copy.");
  device_ = status.st_dev;
  file_ = status.st_ino;
}

void LedgerPlace::expect_same() const {
  struct stat status {};
  bool const there = stat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == file_;
  struct stat locks {};
  bool const locks_there = fstat(locks_.number, &locks) == 0 && locks.st_nlink != 0;
  if (there && locks_there) return;
  throw Error(ErrorKind::system, (there ? locks_path_ : name_) +
                                     " was removed or replaced while it was in use. What was acknowledged before is in "
                                     "the old file. Start again with the ledger that is to be used.");
}

int LedgerPlace::open_locks() const {
  return open_or_refuse(locks_path_, 0, name_);
}

LedgerTurn::LedgerTurn(LedgerPlace const& place) : locks_(place.locks()) {
  // Without a queue, the process that ends its turn would have the next one before another wakes up. The first in the
  // queue leaves it only once it has the turn.
  struct flock queue = {};
  queue.l_type = F_WRLCK;
  queue.l_whence = SEEK_SET;
  queue.l_start = queue_byte;
  queue.l_len = 1;
  bool const is_first = fcntl(locks_, F_OFD_SETLK, &queue) == 0;
  bool has_turn = is_first && flock(locks_, LOCK_EX | LOCK_NB) == 0;
  int problem = 0;
  if (!has_turn) {
    TurnWatch::Wait const wait(place.turn_watch());
    has_turn = (is_first || until_done([&] { return fcntl(locks_, F_OFD_SETLKW, &queue); })) &&
               until_done([&] { return flock(locks_, LOCK_EX); });
    problem = errno;
  }
  unlock_byte(locks_, queue_byte);
  if (!has_turn)
    throw Error(ErrorKind::system,
                place.name() + " cannot be locked: " + system_problem(problem) + ". Put it on a local disk.");
}

LedgerTurn::~LedgerTurn() {
  flock(locks_, LOCK_UN);
}

}  // namespace penstock
