// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/followed_file.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include "penstock/core/descriptor.hpp"
#include "penstock/core/failure_text.hpp"
#include "penstock/decoding/compression.hpp"

namespace penstock {
namespace {

/// Beyond it a time would be none that the clock has.
constexpr std::chrono::hours longest_linger{24 * 365};

std::size_t read_at(int descriptor, std::uint64_t offset, std::span<std::byte> to) {
  for (;;) {
    ssize_t const got = pread(descriptor, to.data(), to.size(), static_cast<off_t>(offset));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) throw FileProblem(system_problem(errno));
  }
}

/// The folder of a path, and the name in it.
std::pair<std::string, std::string> parted(std::string const& path) {
  auto const slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

/// A file that is open, and watched.
struct FollowedFile::Open {
  Open(int descriptor, ChangeWatch& watched_by, std::uint64_t number)
      : file(descriptor), watch(watched_by), owner(number) {
    if (!S_ISREG(status().st_mode)) throw FileProblem("it is no regular file, and no other can be followed");
    watching = watch.watch_file(file.number, owner);
  }
  Open(Open const&) = delete;
  Open& operator=(Open const&) = delete;
  ~Open() {
    if (watching >= 0) watch.forget(watching, owner);
  }
  struct stat status() const {
    struct stat now {};
    if (fstat(file.number, &now) != 0) throw FileProblem(system_problem(errno));
    return now;
  }
  std::uint64_t size() const { return static_cast<std::uint64_t>(status().st_size); }

  Descriptor const file;
  ChangeWatch& watch;
  std::uint64_t const owner;
  int watching = -1;
};

FollowedFile::FollowedFile(InputFile const& input, std::uint64_t number, FileSourceOptions const& options,
                           std::size_t tile_bytes, ChangeWatch& watch)
    : name_(input.path), number_(number), options_(options), tile_bytes_(tile_bytes), watch_(watch) {}

FollowedFile::~FollowedFile() {
  forget_names();
}

void FollowedFile::note(ChangeWatch::Change change) noexcept {
  changed_ = true;
  if (change == ChangeWatch::Change::folder_gone) folder_gone_ = true;
}

void FollowedFile::look() {
  // What changes from here on is reported again.
  if (!std::exchange(changed_, false)) return;
  // What is left of the file is read before its folder is missed.
  if (folder_gone_ && (now_ == nullptr || now_->size() <= position_)) watch_names();
  if (now_ == nullptr) {
    now_ = open();
    if (now_ == nullptr) return;
    begin_generation();
  } else {
    find_successor();
  }
  size_ = now_->size();
  if (size_ < position_) {
    ++truncations_;
    ++generation_;
    if (cutter_) cutter_->break_off();
    begin_generation();
  }
  if (size_ > position_ && !since_) since_ = Clock::now();
}

void FollowedFile::watch_names() {
  auto const [folder, name] = parted(name_);
  if (name.empty()) throw FileProblem("its name is that of a folder");
  forget_names();
  auto const [above, folder_name] = parted(folder);
  try {
    if (!folder_name.empty() && folder_name != ".") {
      name_watches_[1] = watch_.watch_name(above, folder_name, ChangeWatch::Change::folder_gone, number_);
    }
  } catch (FileProblem const&) {
    // This user may not read the folder above. Files are followed without, as long as their folder stays.
  }
  try {
    name_watches_[0] = watch_.watch_name(folder, name, ChangeWatch::Change::name, number_);
  } catch (FileProblem const& problem) {
    throw FileProblem("its folder: " + problem.sentence());
  }
  folder_gone_ = false;
}

void FollowedFile::forget_names() noexcept {
  for (int& watch : name_watches_) {
    if (watch >= 0) watch_.forget(std::exchange(watch, -1), number_);
  }
}

/// Null, if there is none of this name, or for the time being none that may be read.
std::unique_ptr<FollowedFile::Open> FollowedFile::open() const {
  // Non-blocking, because of a pipe that has the name.
  int const descriptor = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor >= 0) return std::make_unique<Open>(descriptor, watch_, number_);
  // Log rotation may make a file first and give it its owner then.
  if (errno == ENOENT || (errno == EACCES && now_ != nullptr)) return nullptr;
  throw FileProblem(system_problem(errno));
}

void FollowedFile::find_successor() {
  auto const same = [](struct stat const& a, struct stat const& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  };
  // One that has bytes is read before any that has the name by now.
  if (next_ == nullptr || next_->size() == 0) {
    struct stat named {};
    bool const there = stat(name_.c_str(), &named) == 0;
    if (there && same(named, now_->status())) {
      next_ = nullptr;
    } else if (there && (next_ == nullptr || !same(named, next_->status()))) {
      next_ = open();
    }
  }
  ending_ = next_ != nullptr && next_->size() > 0;
}

void FollowedFile::begin_generation() {
  position_ = 0;
  since_.reset();
  if (cutter_) loss_ += cutter_->loss();
  cutter_.reset();
  known_plain_ = !options_.decompress;
  if (options_.framing != nullptr && options_.framing->head_bytes() == 0) cut_by({options_.framing, 0});
}

/// Looks whether this file is compressed, if its first bytes are to say that; false if they are not all there.
///
/// Throws: FileProblem, if it is.
bool FollowedFile::is_plain() {
  if (known_plain_) return true;
  std::array<std::byte, input_magic_bytes> first{};
  std::size_t const got = read_at(now_->file.number, 0, first);
  auto const compression = compression_of(std::span(first).first(got), ending_);
  if (!compression) return false;
  if (*compression != Compression::none) {
    std::string const why = why_not_decoded(*compression);
    throw FileProblem(!why.empty() ? why
                                   : std::string("it is compressed by ") + name_of(*compression) +
                                         ", and a file that is followed is not decoded: read it without following it");
  }
  return known_plain_ = true;
}

void FollowedFile::cut_by(Framing::OfInput const& of) {
  cutter_.emplace(of.framing, options_.long_records);
  cutter_->restart(of.head);
  position_ = of.head;
}

/// Reads how the records of this file are, if its first bytes say that; false if they are not all there.
bool FollowedFile::begin_records() {
  if (options_.framing == nullptr || cutter_) return true;
  std::vector<std::byte> first(options_.framing->head_bytes());
  first.resize(read_at(now_->file.number, 0, first));
  if (first.size() < options_.framing->head_bytes() && !ending_) return false;
  if (first.empty()) return true;
  cut_by(options_.framing->of_input(first));
  return true;
}

std::optional<FollowedFile::Clock::time_point> FollowedFile::due() const {
  if (now_ == nullptr) return std::nullopt;
  if (ending_) return Clock::time_point::min();
  if (size_ <= position_ || !since_) return std::nullopt;
  if (size_ - position_ >= tile_bytes_ - (cutter_ ? cutter_->held() : 0)) return Clock::time_point::min();
  if (!options_.linger) return std::nullopt;
  return *since_ + std::min<std::chrono::microseconds>(*options_.linger, longest_linger);
}

std::optional<FollowedFile::Next> FollowedFile::read(std::span<std::byte> tile) try {
  since_.reset();
  if (!is_plain() || !begin_records()) return std::nullopt;
  std::size_t const held = cutter_ ? cutter_->held() : 0;
  std::size_t const got = read_at(now_->file.number, position_, tile.subspan(held));
  Next next{{number_, position_, generation_}, got};
  position_ += got;
  // What is not known yet is looked for once more.
  if (got != 0 || ending_) changed_ = true;
  bool const ended = ending_ && got == 0;
  if (cutter_) {
    auto const cut = cutter_->take(tile, got, ended, tile.size());
    next.bytes = cut.ready ? cut.bytes : 0;
    next.place.offset = cutter_->offset();
    next.records = cutter_->take_records();
  }
  if (ended && !(cutter_ && cutter_->holds_rest())) {
    now_ = std::move(next_);
    ending_ = false;
    ++generation_;
    begin_generation();
  }
  if (next.bytes == 0) return std::nullopt;
  return next;
} catch (FileProblem const&) {
  throw;
} catch (Error const& error) {
  throw FileProblem(error.what());
}

void FollowedFile::give_up() noexcept {
  if (cutter_) cutter_->break_off();
  now_ = nullptr;
  next_ = nullptr;
  forget_names();
}

RecordLoss FollowedFile::loss() const {
  RecordLoss all = loss_;
  if (cutter_) all += cutter_->loss();
  return all;
}

}  // namespace penstock
