// SPDX-License-Identifier: Apache-2.0
#include "ingest/net/listening_socket.hpp"

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/net/address_problem.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr int stream_flags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

/// The lock of a path's folder, as long as this lives. A server holds it from its look at the path until it listens
/// there; before it listens, its file looks like one that was left behind.
class FolderLock {
 public:
  explicit FolderLock(std::string const& path)
      : folder_(open(path.substr(0, path.rfind('/') + 1).append(".").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    // No lock is possible without permission to read the folder. The system releases it with the descriptor.
    constexpr int turns = 500, turn = 10;  // Five seconds: others hold it only for moments.
    for (int k = 0; folder_.number >= 0 && flock(folder_.number, LOCK_EX | LOCK_NB) != 0; ++k) {
      if (errno != EWOULDBLOCK && errno != EINTR) return;
      if (k == turns) {
        throw Error(ErrorKind::system, "Another process holds a lock (flock) on the folder of " + path +
                                           ", which is needed to listen there: end that process, or name a path in "
                                           "another folder.");
      }
      poll(nullptr, 0, turn);
    }
  }

 private:
  Descriptor const folder_;
};

/// Removes the socket file of a server that has ended.
///
/// Throws: Error, if one still answers there, or if it is no socket.
void remove_old_file(std::string const& text, NetAddress const& address) {
  std::string const path = text_of(address);
  struct stat status {};
  if (path.front() == '@' || lstat(path.c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode)) {
    throw Error(ErrorKind::system, "There is a file at " + path + " that is no socket: name another path.");
  }
  Descriptor const asking(socket(AF_UNIX, stream_flags, 0));
  if (asking.number < 0) throw AddressProblem(text, errno);
  int const answer = connect(asking.number, address.raw(), address.bytes) == 0 ? 0 : errno;
  if (answer == ECONNREFUSED) {
    unlink(path.c_str());
    return;
  }
  if (answer == 0 || answer == EAGAIN) {
    throw Error(ErrorKind::system, "Another server answers at " + path + ": end it, or name another path.");
  }
  throw AddressProblem(text, answer);
}

}  // namespace

std::vector<std::unique_ptr<ListeningSocket>> ListeningSocket::open_all(std::string const& address) {
  std::vector<std::unique_ptr<ListeningSocket>> all;
  std::string_view const text = address;
  if (text.substr(0, 5) == "unix:") {
    NetAddress const where = unix_address(text.substr(5));
    std::optional<FolderLock> lock;
    if (std::string const path = text_of(where); path.front() != '@') lock.emplace(path);
    remove_old_file(address, where);
    all.push_back(std::make_unique<ListeningSocket>("unix:", where));
    return all;
  }
  if (text.substr(0, 4) != "tcp:") {
    throw Error(ErrorKind::bad_argument, "'" + address + "' is no address to listen at: it begins with tcp: or unix:.");
  }
  std::optional<AddressProblem> missing;
  for (NetAddress where : resolve(text.substr(4), SOCK_STREAM)) {
    // A name may have addresses of both versions, which get the same free port.
    if (where.port() == 0 && !all.empty()) where.set_port(address_of(all.front()->descriptor()).port());
    try {
      all.push_back(std::make_unique<ListeningSocket>("tcp:", where));
    } catch (AddressProblem const& problem) {
      if (!problem.of_missing_version()) throw;
      missing.emplace(problem);
    }
  }
  if (all.empty() && missing) throw AddressProblem(*missing);
  return all;
}

ListeningSocket::ListeningSocket(std::string scheme, NetAddress address)
    : scheme_(std::move(scheme)),
      text_(scheme_ + text_of(address)),
      socket_(socket(address.family(), stream_flags, 0)) {
  if (socket_.number < 0) throw AddressProblem(text_, errno);
  int const on = 1;
  setsockopt(socket_.number, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.family() == AF_INET6) setsockopt(socket_.number, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (bind(socket_.number, address.raw(), address.bytes) != 0) throw AddressProblem(text_, errno);
  struct stat status {};
  std::string const path = address.family() == AF_UNIX ? text_of(address) : "";
  if (!path.empty() && path.front() != '@' && lstat(path.c_str(), &status) == 0) {
    file_ = path;
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
  if (listen(socket_.number, SOMAXCONN) != 0) throw AddressProblem(text_, errno);
  text_ = scheme_ + text_of(address_of(socket_.number));
}

ListeningSocket::~ListeningSocket() {
  struct stat status {};
  // Another server may have replaced the file.
  if (file_.empty() || lstat(file_.c_str(), &status) != 0) return;
  if (status.st_dev == device_ && status.st_ino == inode_) unlink(file_.c_str());
}

}  // namespace penstock
