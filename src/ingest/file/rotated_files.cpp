// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/rotated_files.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>

#include "engine/core/failure_text.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {
namespace {

/// Maximum number of open files; others that wait are known by their names.
constexpr std::size_t most_open = 64;

/// Splits a path into its folder and the name in it.
std::pair<std::string, std::string> parted(std::string const& path) {
  auto const slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

bool are_same(struct stat const& one, struct stat const& other) noexcept {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

}  // namespace

RotatedFiles::Open::Open(Descriptor& descriptor, ChangeWatch& watch, std::uint64_t owner)
    : file_(std::exchange(descriptor.number, -1)), watch_(watch), owner_(owner) {
  if (!S_ISREG(status().st_mode)) throw FileProblem("it is no regular file, and no other can be followed");
  watching_ = watch_.watch_file(file_.number, owner_);
}

RotatedFiles::Open::~Open() {
  if (watching_ >= 0) watch_.forget(watching_, owner_);
}

struct stat RotatedFiles::Open::status() const {
  struct stat now {};
  if (fstat(file_.number, &now) != 0) throw FileProblem(system_problem(errno));
  return now;
}

RotatedFiles::RotatedFiles(std::string const& path, std::uint64_t owner, ChangeWatch& watch,
                           std::function<void()> look_for_changes)
    : folder_(parted(path).first),
      name_(parted(path).second),
      owner_(owner),
      watch_(watch),
      look_for_changes_(std::move(look_for_changes)),
      history_(name_) {}

RotatedFiles::~RotatedFiles() {
  forget_names();
}

bool RotatedFiles::note(ChangeWatch::News const& news) {
  if (news.change == ChangeWatch::Change::name) return history_.note(news.event) || news.event.name == name_;
  if (news.change != ChangeWatch::Change::contents) folder_gone_ = events_gone_ = true;
  if (news.change == ChangeWatch::Change::events_dropped) missed_events_ = name_unsure_ = true;
  return true;
}

void RotatedFiles::look(bool read_all) {
  bool const anew = std::exchange(events_gone_, false);
  // The rest of the file is read before the loss of its folder matters. The history begins anew once: a second time
  // would take the file that it expects for a lost one.
  if (folder_gone_ && (now() == nullptr || read_all)) {
    watch_names();
  } else if (anew) {
    begin_anew();
  }
  open_named();
  if (has_other_file()) open_named();
  // The watch has reported the new names of renamed files by now.
  if (std::ranges::any_of(history_.files(), [](auto const& file) { return file.move != 0; })) look_for_changes_();
  lost_ += history_.drop_lost();
}

void RotatedFiles::open_named() {
  for (bool again = true; again;) {
    again = false;
    for (NameHistory::File const& file : std::vector(history_.files().begin(), history_.files().end())) {
      if (file.opened || file.name.empty()) continue;
      // They are opened in their order.
      if (opened_.size() >= most_open || !open_one(file)) break;
      NameHistory::File const* const now = history_.find(file.number);
      again = again || now == nullptr || (!now->opened && now->changes != file.changes);
      if (now != nullptr && !now->opened) break;
    }
  }
}

/// Returns false if that failed for good until something changes. If its name changed meanwhile, it is unknown which
/// file was opened, and it stays closed.
bool RotatedFiles::open_one(NameHistory::File const& file) {
  Descriptor descriptor(open(file.name));
  look_for_changes_();
  NameHistory::File* const now = history_.find(file.number);
  if (events_gone_) return false;
  if (now == nullptr) return true;
  if (now->changes != file.changes) return true;
  now->missing = descriptor.number < 0 && file.name == name_;
  if (descriptor.number < 0) return false;
  struct stat status {};
  if (fstat(descriptor.number, &status) != 0) throw FileProblem(system_problem(errno));
  bool const is_first_since = file.name == name_ && std::exchange(name_unsure_, false);
  if (is_known(status, *now)) return true;
  if (is_first_since) ++unseen_rotations_;
  opened_[file.number] = std::make_unique<Open>(descriptor, watch_, owner_);
  now->opened = true;
  return true;
}

/// True if a file that is open is this one: it was opened before its event came, or has its name again.
bool RotatedFiles::is_known(struct stat const& status, NameHistory::File const& file) {
  auto const same =
      std::ranges::find_if(opened_, [&](auto const& other) { return are_same(other.second->status(), status); });
  if (same == opened_.end()) return false;
  NameHistory::File* const known = history_.find(same->first);
  known->name = file.name;
  known->move = file.move;
  history_.erase(file.number);
  return true;
}

/// True if the path refers to another file of which no event told, such as a link's target when another folder changes.
bool RotatedFiles::has_other_file() {
  if (opened_.empty() || history_.files().back().name != name_ || !history_.files().back().opened) return false;
  struct stat named {};
  if (stat((folder_ + "/" + name_).c_str(), &named) != 0) return false;
  if (are_same(named, opened_.rbegin()->second->status())) return false;
  NameHistory::File const before = history_.files().back();
  look_for_changes_();
  NameHistory::File const& now = history_.files().back();
  if (now.number == before.number && now.changes == before.changes) history_.assume();
  return true;
}

void RotatedFiles::begin_anew() {
  lost_ += history_.begin_anew();
}

void RotatedFiles::watch_names() {
  if (name_.empty()) throw FileProblem("its name is that of a folder");
  forget_names();
  auto const [above, folder_name] = parted(folder_);
  try {
    if (!folder_name.empty() && folder_name != ".") watches_[1] = watch_.watch_folder_name(above, folder_name, owner_);
  } catch (FileProblem const&) {
    // This user may not read the parent folder. Files are followed without it, as long as their folder stays.
  }
  try {
    watches_[0] = watch_.watch_names(folder_, name_, owner_);
  } catch (FileProblem const& problem) {
    throw FileProblem("its folder: " + problem.sentence());
  }
  folder_gone_ = false;
  begin_anew();
}

void RotatedFiles::forget_names() noexcept {
  for (int& watch : watches_) {
    if (watch >= 0) watch_.forget(std::exchange(watch, -1), owner_);
  }
}

/// Returns -1 if there is no file of this name, or for now none that can be opened.
int RotatedFiles::open(std::string const& name) const {
  // Non-blocking, because of a pipe that has the name.
  int const descriptor = ::open((folder_ + "/" + name).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  // Log rotation may make a file first and set its owner afterwards.
  bool const may_later = errno == EACCES || errno == EMFILE || errno == ENFILE;
  if (descriptor >= 0 || errno == ENOENT || (may_later && !opened_.empty())) return descriptor;
  throw FileProblem(system_problem(errno));
}

bool RotatedFiles::has_next() const {
  return std::any_of(opened_.empty() ? opened_.end() : std::next(opened_.begin()), opened_.end(),
                     [](auto const& file) { return file.second->size() > 0; });
}

void RotatedFiles::drop_first() {
  do {
    history_.erase(opened_.begin()->first);
    opened_.erase(opened_.begin());
  } while (has_next() && now()->size() == 0);
}

void RotatedFiles::give_up() noexcept {
  opened_.clear();
  forget_names();
}

}  // namespace penstock
