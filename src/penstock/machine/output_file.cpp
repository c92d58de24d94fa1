// SPDX-License-Identifier: Apache-2.0
#include "penstock/machine/output_file.hpp"

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

#include "penstock/core/error.hpp"
#include "penstock/core/failure_text.hpp"
#include "penstock/machine/descriptor_stream.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_path(std::string const& path, std::string const& why) {
  throw Error(ErrorKind::bad_argument, path + ": " + why + ". Name a file that can be written.");
}
[[noreturn]] void refuse_path(std::string const& path, std::error_code problem) {
  if (auto const error = shortage(path, problem)) throw *error;
  refuse_path(path, problem.message());
}
std::error_code last_problem() {
  return {errno, std::generic_category()};
}

/// A name that no other has, next to that of `name`.
std::string fresh_name(std::string const& name) {
  constexpr std::size_t most_of_name = 200;  // Of 255 that a name may have.
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    throw Error(ErrorKind::system, std::string("The system gives no random number: ") + std::strerror(errno) + ".");
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  return "." + name.substr(0, most_of_name) + ".penstock-" + digits;
}

/// Makes `to`, a file of this process's own, one of that owner, group and mode. What is so already is not asked for:
/// file systems that know no owners refuse even that.
///
/// Returns: 0, or the errno of what failed.
int take_owner_and_mode(int to, uid_t owner, gid_t group, mode_t mode) {
  struct stat now {};
  if (fstat(to, &now) != 0) return errno;
  if ((now.st_uid != owner || now.st_gid != group) && fchown(to, owner, group) != 0) return errno;
  // In this order, and with another look: a new owner takes some of the mode away.
  if (fstat(to, &now) != 0) return errno;
  return (now.st_mode & 07777) == mode || fchmod(to, mode) == 0 ? 0 : errno;
}

/// Has it on the disk. A file system that has no way to do that has nothing to wait for.
///
/// Returns: 0, or the errno of what failed.
int sync(int descriptor) {
  if (fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP) return 0;
  return errno;
}

/// Returns: 0, or the errno of what failed.
int copy(int from, int to) {
  std::vector<char> piece(std::size_t{1} << 16);
  off_t at = 0;
  for (;;) {
    ssize_t const got = pread(from, piece.data(), piece.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0 ? 0 : errno;
    for (ssize_t done = 0; done < got;) {
      ssize_t const put = ::write(to, piece.data() + done, static_cast<std::size_t>(got - done));
      if (put < 0 && errno != EINTR) return errno;
      done += std::max<ssize_t>(put, 0);
    }
    at += got;
  }
}

/// A new file in a folder, which goes again unless it is put in its place.
class NewFile {
 public:
  NewFile(int folder, std::string const& name, mode_t mode)
      : folder_(folder), descriptor_(openat(folder_, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode)) {
    if (descriptor_ < 0) descriptor_ = open_named(name, mode);
  }
  NewFile(NewFile const&) = delete;
  NewFile& operator=(NewFile const&) = delete;
  ~NewFile() {
    if (!name_.empty()) unlinkat(folder_, name_.c_str(), 0);
    if (descriptor_ >= 0) close(descriptor_);
  }
  int descriptor() const noexcept { return descriptor_; }

  /// Returns: 0, or the errno of what failed.
  int take_place_of(std::string const& name) {
    if (name_.empty() && !take_name(fresh_name(name))) {
      if (int const problem = become_named(name); problem != 0) return problem;
    }
    if (renameat(folder_, name_.c_str(), folder_, name.c_str()) != 0) return errno;
    name_.clear();
    return 0;
  }

 private:
  int open_named(std::string const& name, mode_t mode) {
    name_ = fresh_name(name);
    int const opened = openat(folder_, name_.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, mode);
    if (opened < 0) name_.clear();
    return opened;
  }
  bool take_name(std::string const& fresh) {
    std::string const here = "/proc/self/fd/" + std::to_string(descriptor_);
    if (linkat(AT_FDCWD, here.c_str(), folder_, fresh.c_str(), AT_SYMLINK_FOLLOW) != 0) return false;
    name_ = fresh;
    return true;
  }
  /// Where /proc is not there, or the file system links no file that has no name: a copy that has one.
  int become_named(std::string const& name) {
    struct stat now {};
    if (fstat(descriptor_, &now) != 0) return errno;
    int const named = open_named(name, 0600);
    if (named < 0) return errno;
    int problem = copy(descriptor_, named);
    if (problem == 0) problem = take_owner_and_mode(named, now.st_uid, now.st_gid, now.st_mode & 07777);
    if (problem == 0) problem = sync(named);
    close(std::exchange(descriptor_, named));
    return problem;
  }

  int const folder_;
  int descriptor_;
  std::string name_;  ///< Empty while it has none.
};

/// Whether this process may give a file of its own to the owner and the group of `other`.
bool may_give_to_owner_of(struct stat const& other) {
  if (geteuid() == 0) return true;
  if (other.st_uid != geteuid()) return false;
  if (other.st_gid == getegid()) return true;
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, getgroups(0, nullptr))));
  int const count = getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(0, count)));
  return std::find(groups.begin(), groups.end(), other.st_gid) != groups.end();
}

/// So that the name is found after a crash as well. Not every file system does that for folders.
void sync_folder(int folder) {
  int const readable = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (readable < 0) return;
  static_cast<void>(fsync(readable));
  close(readable);
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

OutputFile::Descriptor::~Descriptor() {
  if (number >= 0) close(number);
}

void OutputFile::find() {
  if (path_.empty()) refuse_path("''", "It names no file");
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0) found_ = status;
  if (found_ && S_ISDIR(found_->st_mode)) refuse_path(path_, "It is a directory");
  if (found_ && S_ISSOCK(found_->st_mode)) refuse_path(path_, "It is a socket");
  constexpr int most_links = 40;  // As the system has it.
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
    // Others write where it stands, too: so it keeps the place it is at.
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
      // The system tells of a reader only by letting it be opened.
      asked.wait_for(lock, stop_, std::chrono::milliseconds(20), [] { return false; });
    }
  }
  if (opened_.number < 0) refuse_path(path_, last_problem());
}

void OutputFile::expect_replaceable() const {
  if (name_.empty() || name_ == "." || name_ == "..") refuse_path(path_, "It is a directory");
  if (found_ && faccessat(folder_.number, name_.c_str(), W_OK, AT_EACCESS) != 0) refuse_path(path_, last_problem());
  if (faccessat(folder_.number, ".", W_OK | X_OK, AT_EACCESS) != 0) {
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
  if (int const problem = written_to(opened_.number, stop_, write); problem != 0) {
    throw Error(ErrorKind::system, path_ + " took less than all of " + what + " (" + std::strerror(problem) +
                                       "): see that it takes all, or name another file.");
  }
}

void OutputFile::replace(std::string const& what, std::function<void(std::ostream&)> const& write) const {
  auto const expect_none = [&](int problem) {
    if (problem == 0) return;
    throw Error(ErrorKind::system, path_ + " took less than all of " + what + " (" + std::strerror(problem) +
                                       "), and is as it was: see that its disk has room, or name another file.");
  };
  // Nobody may read the new one who may not read the old one.
  constexpr mode_t of_owner_alone = 0600;
  constexpr mode_t as_usual = 0666;
  NewFile fresh(folder_.number, name_, found_ ? of_owner_alone : as_usual);
  int const to = fresh.descriptor();
  if (to < 0) expect_none(errno);
  expect_none(written_to(to, {}, write));
  struct stat now {};
  bool const there = fstatat(folder_.number, name_.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0;
  // It may have become another thing meanwhile, which is not this program's to replace.
  if (there && !S_ISREG(now.st_mode)) expect_none(EEXIST);
  if (there || found_) {
    struct stat const& old = there ? now : *found_;
    expect_none(take_owner_and_mode(to, old.st_uid, old.st_gid, old.st_mode & 07777));
  }
  expect_none(sync(to));
  expect_none(fresh.take_place_of(name_));
  sync_folder(folder_.number);
}

}  // namespace penstock
