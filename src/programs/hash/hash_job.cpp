// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/hash_job.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/core/number_text.hpp"
#include "engine/core/pool.hpp"
#include "penstock/error.hpp"
#include "programs/command/program.hpp"

namespace penstock::cli {
namespace {

/// Looking at more paths than this would take longer than it saves.
constexpr std::size_t most_paths = 64;
/// Files in /proc say that they are empty, whatever they hold: a tile that is too small for one costs time, and this
/// much memory does not matter.
constexpr std::size_t least_tile_bytes = std::size_t{64} << 10;

/// Minimum number of tiles that a pipeline chooses by itself for these options.
std::size_t least_tiles(PipelineOptions const& options) {
  auto const or_else = [](unsigned value, unsigned preset) { return std::size_t{value != 0 ? value : preset}; };
  return or_else(options.lanes, 1) * or_else(options.tuning.slots, 4) + 2 * or_else(options.producers, 1) +
         or_else(options.consumers, 1);
}

/// Memory that tiles may take before it is worth a wait to know how many are needed: a tenth of a second touches as
/// much.
constexpr std::uint64_t much_memory = std::uint64_t{256} << 20;
constexpr int patience_milliseconds = 100;
/// The size and the number of tiles for input of unknown size. Together they take as much memory as above. One is
/// filled while others are hashed, and tiles of this size are read as fast as larger ones.
constexpr std::uint64_t stream_tile_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t stream_tiles = much_memory / stream_tile_bytes;

/// Number of bytes to read from here on; empty if that is not known.
std::optional<std::uint64_t> bytes_of_stream(int descriptor, int milliseconds) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return std::nullopt;
  if (S_ISREG(status.st_mode)) {
    off_t const at = lseek(descriptor, 0, SEEK_CUR);
    return static_cast<std::uint64_t>(std::max<off_t>(0, status.st_size - std::max<off_t>(0, at)));
  }
  if (!S_ISFIFO(status.st_mode)) return std::nullopt;
  // It polls for one event only: that all writers have closed the pipe. After that the pipe holds no more than it does
  // now.
  pollfd waited{descriptor, 0, 0};
  int held = 0;
  if (poll(&waited, 1, milliseconds) != 1 || ioctl(descriptor, FIONREAD, &held) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(held);
}

/// Adds up the files' sizes, for the progress bar's end. Ends early if `stop` is requested.
void measure(HashRequest const& request, Progress& progress, std::stop_token const& stop) {
  pthread_setname_np(pthread_self(), "ps-sizes");
  FileWalk walk(request.paths, request.shard);
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

void fit_tiles(PipelineOptions& options, std::vector<std::string> const& paths, int standard_input) {
  if (paths.size() > most_paths) return;
  std::vector<std::uint64_t> sizes;
  bool streams = false;
  for (std::string const& path : paths) {
    struct stat status {};
    if (path == "-") {
      std::uint64_t const asked =
          options.tile.input_bytes * (options.tuning.tiles != 0 ? options.tuning.tiles : least_tiles(options));
      auto const bytes = bytes_of_stream(standard_input, asked > much_memory ? patience_milliseconds : 0);
      if (bytes) sizes.push_back(*bytes);
      streams = streams || !bytes;
      continue;
    }
    if (stat(path.c_str(), &status) != 0) continue;  // It will be reported, and needs no tile.
    if (S_ISDIR(status.st_mode)) return;
    if (S_ISREG(status.st_mode)) sizes.push_back(static_cast<std::uint64_t>(status.st_size));
    streams = streams || !S_ISREG(status.st_mode);
  }
  if (streams && options.tuning.tiles != 0) return;
  std::uint64_t largest = streams ? stream_tile_bytes : 0;
  for (std::uint64_t const size : sizes) largest = std::max(largest, size);
  std::size_t& tile_bytes = options.tile.input_bytes;
  if (largest < tile_bytes) {
    tile_bytes = std::min(tile_bytes, std::max(least_tile_bytes, std::bit_ceil(static_cast<std::size_t>(largest))));
  }
  auto const shift = std::countr_zero(tile_bytes);
  std::uint64_t useful = streams ? (stream_tiles * stream_tile_bytes) >> shift : 0;
  for (std::uint64_t const size : sizes) useful += std::max<std::uint64_t>(1, (size + tile_bytes - 1) >> shift);
  useful = std::max<std::uint64_t>(useful, 1);
  std::size_t const wanted = options.tuning.tiles != 0 ? options.tuning.tiles : least_tiles(options);
  // A pipeline with a budget chooses, unless a number is asked for: more than fit would be refused.
  bool const chooses = options.tuning.memory != 0 && options.tuning.tiles == 0;
  if (useful < wanted && !chooses) options.tuning.tiles = static_cast<std::size_t>(useful);
}

HashJob::HashJob(HashRequest request, StandardOutput& output, std::stop_token const& interrupted)
    : request_(std::move(request)),
      progress_(request_.draw_progress),
      output_(request_.format, progress_, output),
      pass_on_(interrupted, PassOn{&enough_}),
      book_(
          [this](HashedFile const& file) {
            if (!ledger_) return output_.file(file);
            if (!ledger_->file(file)) enough_.request_stop();
          },
          [this] {
            if (!output_.flush()) enough_.request_stop();
          }),
      list_(
          request_.paths, [this](std::string const& about, std::string const& what) { output_.problem(about, what); },
          enough_.get_token()),
      walk_(request_.paths, request_.shard) {
  if (request_.files.page != nullptr) output_.keep_rows();
  if (!request_.ledger.empty()) {
    auto const is_left_out = [this](std::string const& path) { return is_passed_over(written_at(path)); };
    ledger_.emplace(request_.ledger, request_.paths, walk_, is_left_out, enough_.get_token(), request_.role);
  }
  if (progress_.drawn() && !request_.check && !ledger_)
    measuring_ = std::jthread([this](std::stop_token const& stop) { measure(request_, progress_, stop); });
}

HashSource& HashJob::source_for(Pool const& pool) {
  if (source_) {
    source_->serve(pool);
  } else {
    source_.emplace(
        [this] { return next(); }, pool, book_, enough_.get_token(),
        FileGrouping{.wanted = request_.groups && !waits_for_lists(),
                     .is_ready = ledger_ ? std::function([this] { return ledger_->is_ready(); }) : nullptr});
  }
  return *source_;
}

/// True if the next line of a list may be long in coming: no file is to wait for it.
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
    if (ledger_) {
      wanted = ledger_->next();
    } else if (request_.check) {
      wanted = list_.next();
    } else if (auto found = walk_.next()) {
      wanted = WantedFile{.path = std::move(found->path),
                          .problem = std::move(found->problem),
                          .expected = {},
                          .folder = std::move(found->folder),
                          .kind = found->kind};
    }
    if (!wanted) {
      // A thread that stops the input does so before it looks at this.
      if (!enough_.stop_requested()) all_taken_ = true;
      return std::nullopt;
    }
    OutputFile const* const written = written_at(wanted->path);
    if (!is_passed_over(written)) {
      note_read(written);
      return wanted;
    }
    if (!ledger_) continue;
    ledger_->leave_out(*wanted);
    // The next one may be of a lease that is not there yet.
    wanted->left_out = true;
    return wanted;
  }
}

/// The one of HashRequest::files that this path leads to, or null.
OutputFile const* HashJob::written_at(std::string const& path) const {
  HashFiles const& files = request_.files;
  auto const is = [&](OutputFile const* file) { return file != nullptr && file->is(path); };
  return is(files.trace) ? files.trace : is(files.page) ? files.page : nullptr;
}

/// True for an empty file, as made by mktemp. Any other is an input like others, and stays.
bool HashJob::is_passed_over(OutputFile const* file) const noexcept {
  return file != nullptr && !request_.check && !file->held_something();
}

void HashJob::note_read(OutputFile const* file) {
  if (file != nullptr) (file == request_.files.trace ? reads_its_trace_ : reads_its_page_) = true;
}

void HashJob::finish_ledger() {
  if (!ledger_) return;
  // The lines of a million files take a hundred megabytes.
  constexpr std::uint64_t files_at_once = 4096;
  bool const all = ledger_->finish([this, files = std::uint64_t{0}](HashedFile const& file) mutable {
    // Another process may have read it.
    note_read(written_at(file.path));
    output_.file(file);
    if (++files % files_at_once == 0) output_.flush();
  });
  unfinished_ = !all;
  if (!all && request_.role != LedgerRole::worker)
    progress_.complain(message_of(request_.ledger + " has what was hashed: the same command goes on."));
}

void HashJob::expect_able() const {
  auto const why = ledger_ ? ledger_->inability() : std::nullopt;
  if (why) throw Error(ErrorKind::system, *why);
}

void HashJob::say_what_was_passed_over() {
  if (walk_.links() == 0) return;
  progress_.complain(message_of("Passed over " + count_text(walk_.links(), "symbolic link") +
                                " below directories: name one to hash what it leads to."));
}

}  // namespace penstock::cli
