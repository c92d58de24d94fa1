// SPDX-License-Identifier: Apache-2.0
#include "tools/hash/hash_job.hpp"

#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

namespace penstock::cli {
namespace {

/// Adds up the files' sizes, for the progress bar's end. Gives up early if asked to.
void measure(std::vector<std::string> const& paths, Progress& progress, std::stop_token const& stop) {
  pthread_setname_np(pthread_self(), "ps-sizes");
  FileWalk walk(paths);
  std::uint64_t total = 0;
  while (auto const file = walk.next()) {
    struct stat status {};
    if (stop.stop_requested() || file->path == "-") return;
    int const known = file->folder != nullptr
                          ? fstatat(file->folder->descriptor(), file->path.c_str() + file->path.rfind('/') + 1, &status,
                                    AT_SYMLINK_NOFOLLOW)
                          : stat(file->path.c_str(), &status);
    if (known == 0) total += static_cast<std::uint64_t>(status.st_size);
  }
  progress.set_total(total);
}

}  // namespace

HashJob::HashJob(HashRequest request, StandardOutput& output, std::stop_token const& interrupted)
    : request_(std::move(request)),
      progress_(request_.draw_progress),
      output_(request_.format, progress_, output),
      pass_on_(interrupted, PassOn{&enough_}),
      book_(
          request_.tile_bytes, [this](HashedFile const& file) { output_.file(file); },
          [this] {
            if (!output_.flush()) enough_.request_stop();
          }),
      list_(
          request_.paths, [this](std::string const& about, std::string const& what) { output_.problem(about, what); },
          enough_.get_token()),
      walk_(request_.paths) {
  if (progress_.drawn() && !request_.check)
    measuring_ = std::jthread([this](std::stop_token const& stop) { measure(request_.paths, progress_, stop); });
}

HashSource& HashJob::source_for(Pool const& pool) {
  if (source_) {
    source_->serve(pool);
  } else {
    source_.emplace([this] { return next(); }, pool, book_, enough_.get_token(), request_.groups && !waits_for_lists());
  }
  return *source_;
}

/// Whether the next line of a list may be long in coming: no file is to wait for it.
bool HashJob::waits_for_lists() const {
  auto const is_regular = [](std::string const& path) {
    struct stat status {};
    return path != "-" && stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  };
  return request_.check && !std::all_of(request_.paths.begin(), request_.paths.end(), is_regular);
}

std::optional<WantedFile> HashJob::next() {
  for (;;) {
    std::optional<WantedFile> wanted;
    if (request_.check) {
      wanted = list_.next();
    } else if (auto found = walk_.next()) {
      wanted = WantedFile{.path = std::move(found->path),
                          .problem = std::move(found->problem),
                          .expected = {},
                          .folder = std::move(found->folder)};
    }
    if (!wanted) {
      // A thread that stops the input does so before it looks at this.
      if (!enough_.stop_requested()) all_taken_ = true;
      return std::nullopt;
    }
    if (request_.trace == nullptr || !request_.trace->is(wanted->path)) return wanted;
    // An empty one, as mktemp makes it, is passed over; any other is an input like others, and stays.
    if (!request_.check && !request_.trace->held_something()) continue;
    reads_its_trace_ = true;
    return wanted;
  }
}

}  // namespace penstock::cli
