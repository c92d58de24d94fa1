// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/output_file.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <ostream>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include "engine/core/failure_text.hpp"
#include "engine/machine/new_file.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;

constexpr mode_t of_owner_alone = 0600, as_usual = 0666;

[[noreturn]] void refuse_path(std::string const& path, std::string const& why) {
  throw Error(ErrorKind::bad_argument, path + ": " + why + ". Name a file that can be written.");
}
[[noreturn]] void refuse_path(std::string const& path, std::error_code problem) {
  if (auto const error = shortage(path, problem)) throw *error;
  refuse_path(path, problem.message());
}
[[noreturn]] void took_less(std::string const& of_what, int problem, std::string const& outcome) {
  throw Error(ErrorKind::system, of_what + " (" + std::strerror(problem) + ")" + outcome + ": " +
                                     remedy_for_writing(problem) + ", or name another file.");
}
std::error_code last_problem() {
  return {errno, std::generic_category()};
}

/// True if this process may give a file of its own to the owner and the group of `other`.
bool may_give_to_owner_of(struct stat const& other) {
  if (geteuid() == 0) return true;
  if (other.st_uid != geteuid()) return false;
  if (other.st_gid == getegid()) return true;
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, getgroups(0, nullptr))));
  int const count = getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(0, count)));
  return std::find(groups.begin(), groups.end(), other.st_gid) != groups.end();
}

/// Returns: 0, or the errno of what failed.
int written_to(int descriptor, std::stop_token const& stop, std::function<void(std::ostream&)> const& write) {
  DescriptorStream buffer(descriptor, stop);
  std::ostream out(&buffer);
  write(out);
  return buffer.finish();
}

}  // namespace

OutputFile::OutputFile(std::string path, std::stop_token stop) : path_(std::move(path)), stop_(std::move(stop)) {
  find();
}

void OutputFile::find() {
  if (path_.empty()) refuse_path("''", "It names no file");
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0) found_ = status;
  if (found_ && S_ISDIR(found_->st_mode)) refuse_path(path_, "It is a directory");
  if (found_ && S_ISSOCK(found_->st_mode)) refuse_path(path_, "It is a socket");
  constexpr int most_links = 40;  // The system has the same limit.
  std::error_code problem;
  fs::path place = path_;
  for (int links = 0;; ++links) {
    fs::path const folder = fs::canonical(place.has_parent_path() ? place.parent_path() : ".", problem);
    if (problem) refuse_path(path_, problem);
    bool const is_link = fs::is_symlink(fs::symlink_status(place, problem));
    if (problem && problem != std::errc::no_such_file_or_directory) refuse_path(path_, problem);
    // A link of /proc is an open file, and has no place of its own.
    if (is_link && folder.string().starts_with("/proc/")) return open_as_it_is(folder / place.filename(), false);
    if (!is_link) {
      if (found_ && !S_ISREG(found_->st_mode)) return open_as_it_is(path_, S_ISFIFO(found_->st_mode));
      name_ = place.filename();
      folder_.number = open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
      if (folder_.number < 0) refuse_path(path_, last_problem());
      return expect_replaceable();
    }
    fs::path const target = fs::read_symlink(place, problem);
    if (problem) refuse_path(path_, problem);
    if (links == most_links) refuse_path(path_, std::make_error_code(std::errc::too_many_symbolic_link_levels));
    place = folder / target;
  }
}

void OutputFile::open_as_it_is(std::string const& path, bool waits) {
  std::string const own = "/proc/" + std::to_string(getpid()) + "/fd/";
  if (path.starts_with(own)) {
    int number = -1;
    std::from_chars(path.data() + own.size(), path.data() + path.size(), number);
    // Others write at this position, too, so the descriptor keeps it.
    opened_.number = fcntl(number, F_DUPFD_CLOEXEC, 0);
    if (opened_.number >= 0 && (fcntl(opened_.number, F_GETFL) & O_ACCMODE) == O_RDONLY)
      refuse_path(path_, "It is open for reading");
  } else {
    std::mutex mutex;
    std::condition_variable_any asked;
    std::unique_lock lock(mutex);
    for (;;) {
      opened_.number = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
      if (opened_.number >= 0 || !waits || (errno != ENXIO && errno != EINTR)) break;
      if (stop_.stop_requested()) throw Error(ErrorKind::system, path_ + " is a pipe, and had no reader.");
      // The system shows that a pipe has a reader only by letting it be opened.
      asked.wait_for(lock, stop_, std::chrono::milliseconds(20), [] { return false; });
    }
  }
  if (opened_.number < 0) refuse_path(path_, last_problem());
}

void OutputFile::expect_replaceable() const {
  if (name_.empty() || name_ == "." || name_ == "..") refuse_path(path_, "It is a directory");
  if (found_ && faccessat(folder_.number, name_.c_str(), W_OK, AT_EACCESS) != 0) refuse_path(path_, last_problem());
  // This is tried, because some folders, such as those of /proc, refuse what their mode allows.
  if (NewFile const tried(folder_.number, name_, of_owner_alone); tried.descriptor() < 0) {
    if (auto const error = shortage(path_, last_problem())) throw *error;
    refuse_path(path_, "Its folder takes no new file (" + last_problem().message() + ")");
  }
  if (found_ && !may_give_to_owner_of(*found_))
    refuse_path(path_, "It belongs to another user or group, and a file in its place would not");
}

bool OutputFile::is(struct stat const& other) const noexcept {
  return found_ && found_->st_dev == other.st_dev && found_->st_ino == other.st_ino;
}

bool OutputFile::is(std::string const& path) const noexcept {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && is(status);
}

bool OutputFile::is(OutputFile const& other) const noexcept {
  if (found_ || other.found_) return found_ && other.found_ && is(*other.found_);
  struct stat mine {};
  struct stat theirs {};
  bool const known = fstat(folder_.number, &mine) == 0 && fstat(other.folder_.number, &theirs) == 0;
  return known && mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino && name_ == other.name_;
}

void OutputFile::write(std::string const& what, std::function<void(std::ostream&)> const& write) {
  if (is_replaced()) return replace(what, write);
  if (int const problem = written_to(opened_.number, stop_, write); problem != 0)
    took_less(path_ + " took less than all of " + what, problem, "");
}

void OutputFile::replace(std::string const& what, std::function<void(std::ostream&)> const& write) const {
  Draft draft(*this, what);
  draft.expect_none(written_to(draft.descriptor(), {}, write));
  draft.take_place();
}

// A user that may not read the old file may not read the new one.
OutputFile::Draft::Draft(OutputFile const& file, std::string const& what)
    : file_(file),
      of_what_(file.path_ + " took less than all of " + what),
      fresh_(file.folder_.number, file.name_, file.found_ ? of_owner_alone : as_usual) {
  if (descriptor() < 0) expect_none(errno);
}

void OutputFile::Draft::expect_none(int problem) const {
  if (problem != 0) took_less(of_what_, problem, ", and is as it was");
}

void OutputFile::Draft::take_place() {
  int const folder = file_.folder_.number;
  std::string const& name = file_.name_;
  struct stat now {};
  bool const there = fstatat(folder, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0;
  // It may have become another thing meanwhile, which is not this program's to replace.
  if (there && !S_ISREG(now.st_mode)) expect_none(EEXIST);
  if (there || file_.found_) {
    struct stat const& old = there ? now : *file_.found_;
    expect_none(take_owner_and_mode(descriptor(), old.st_uid, old.st_gid, old.st_mode & 07777));
  }
  expect_none(sync_file(descriptor()));
  expect_none(fresh_.take_place_of(name));
  if (int const problem = sync_folder(folder); problem != 0)
    throw Error(ErrorKind::system, file_.path_ + " is written, but may not be found after a crash (" +
                                       std::strerror(problem) + "): " + remedy_for_writing(problem) +
                                       ", or name another file.");
}

}  // namespace penstock
