// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/change_watch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

#include "engine/core/failure_text.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {
namespace {

constexpr std::uint32_t of_name = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_ATTRIB;
constexpr std::uint32_t of_folder_gone = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;

int expect(int descriptor, char const* remedy) {
  if (descriptor >= 0) return descriptor;
  throw Error(ErrorKind::system, "Files cannot be followed: " + system_problem(errno) + "; " + remedy + ".");
}

}  // namespace

ChangeWatch::ChangeWatch(std::stop_token const& stop)
    : events_(expect(inotify_init1(IN_CLOEXEC | IN_NONBLOCK),
                     "let more be open (ulimit -n), or raise fs.inotify.max_user_instances")),
      stopped_(expect(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "let more be open (ulimit -n)")),
      on_stop_(stop, [this] { eventfd_write(stopped_.number, 1); }) {}

int ChangeWatch::watch_file(int descriptor, std::size_t owner) {
  // Uses the descriptor, because another file may have taken the path.
  return add(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), IN_MODIFY, {owner});
}

int ChangeWatch::watch_names(std::string const& folder, std::string const& name, std::size_t owner) {
  return add(folder.c_str(), of_name | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR, {owner, Change::name, name});
}

int ChangeWatch::watch_folder_name(std::string const& above, std::string const& name, std::size_t owner) {
  return add(above.c_str(), of_name | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR, {owner, Change::folder_gone, name});
}

int ChangeWatch::add(char const* path, std::uint32_t events, Watched watched) {
  // A file that is watched as two things, or by two owners, has one watch for all its events.
  int const watch = inotify_add_watch(events_.number, path, events | IN_MASK_ADD);
  if (watch < 0) {
    std::string const remedy = errno == ENOSPC ? "; raise fs.inotify.max_user_watches" : "";
    throw FileProblem("it cannot be watched for changes: " + system_problem(errno) + remedy);
  }
  watched_[watch].push_back(std::move(watched));
  return watch;
}

void ChangeWatch::forget(int watch, std::size_t owner) noexcept {
  auto const found = watched_.find(watch);
  if (found == watched_.end()) return;
  std::erase_if(found->second, [&](Watched const& one) { return one.owner == owner; });
  if (!found->second.empty()) return;
  watched_.erase(found);
  inotify_rm_watch(events_.number, watch);
}

void ChangeWatch::wait(std::optional<Clock::time_point> until, Changed const& changed) {
  timespec time{};
  if (until) {
    auto const now = Clock::now();
    std::chrono::nanoseconds const left = *until > now ? *until - now : Clock::duration(0);
    time = {.tv_sec = left.count() / 1'000'000'000, .tv_nsec = left.count() % 1'000'000'000};
  }
  std::array<pollfd, 2> waited{pollfd{events_.number, POLLIN, 0}, pollfd{stopped_.number, POLLIN, 0}};
  if (ppoll(waited.data(), waited.size(), until ? &time : nullptr, nullptr) <= 0 || waited[0].revents == 0) return;
  while (report(changed)) {
  }
}

/// Reports one event to one owner, if it is of interest.
void ChangeWatch::report_name(Watched const& one, std::uint32_t mask, NameEvent const& event, Changed const& changed) {
  if (one.what == Change::contents) return changed(one.owner, {Change::contents});
  if ((mask & of_folder_gone) != 0) return changed(one.owner, {Change::folder_gone});
  if (one.what == Change::folder_gone) {
    if (one.name == event.name) changed(one.owner, {Change::folder_gone});
    return;
  }
  if ((mask & IN_ATTRIB) != 0) {
    if (one.name == event.name) changed(one.owner, {Change::contents});
    return;
  }
  auto const kind = (mask & IN_MOVED_FROM) != 0 ? NameEvent::Kind::left
                    : (mask & IN_DELETE) != 0   ? NameEvent::Kind::vanished
                                                : NameEvent::Kind::appeared;
  changed(one.owner, {Change::name, {kind, event.name, event.move}});
}

/// Reports the events that one read gives; false if there were none.
bool ChangeWatch::report(Changed const& changed) {
  alignas(inotify_event) std::array<std::byte, 16384> room;
  ssize_t const got = read(events_.number, room.data(), room.size());
  if (got <= 0) return false;
  for (std::byte const* at = room.data(); at < room.data() + got;) {
    auto const* const event = static_cast<inotify_event const*>(static_cast<void const*>(at));
    at += sizeof *event + event->len;
    if ((event->mask & IN_Q_OVERFLOW) != 0) {
      for (auto const& [watch, all] : watched_) {
        for (Watched const& one : all) changed(one.owner, {Change::events_dropped});
      }
      continue;
    }
    auto const found = watched_.find(event->wd);
    if (found == watched_.end()) continue;
    NameEvent const what{NameEvent::Kind::appeared, event->len != 0 ? &event->name[0] : "", event->cookie};
    for (Watched const& one : found->second) report_name(one, event->mask, what, changed);
    // The system no longer uses its number.
    if ((event->mask & IN_IGNORED) != 0) watched_.erase(found);
  }
  return true;
}

}  // namespace penstock
