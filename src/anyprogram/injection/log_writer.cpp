// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/injection/log_writer.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace penstock::injection {
namespace {

using namespace watch_log;

/// The part of its chunk that a thread has not written yet, and the number of the thread.
struct Place {
  Record* next;
  Record* end;
  Record* last;  ///< The last record that this thread wrote; null if it no longer has that chunk.
  std::uint32_t number;
  bool ended;  ///< The thread is ending, and has left its room to another thread.
};

/// The rest of a chunk of an ended thread, for the next thread.
struct Rest {
  Record* next;
  Record* end;
};

struct Log {
  Header* header = nullptr;
  int file = -1;
  bool open = false;
  std::uint32_t threads = 0;
  pthread_key_t at_thread_end{};
  pthread_mutex_t rests_mutex = PTHREAD_MUTEX_INITIALIZER;
  Rest rests[64] = {};
  std::size_t rest_count = 0;
};

Log the_log;
thread_local Place place;

template <class Number>
Number add(Number& to, Number what) noexcept {
  // Relaxed: these are counts, and order no other memory.
  return __atomic_fetch_add(&to, what, __ATOMIC_RELAXED);
}

void leave_room(void* /*unused*/) {
  place.ended = true;
  if (place.next == place.end) return;
  pthread_mutex_lock(&the_log.rests_mutex);
  if (the_log.rest_count < sizeof the_log.rests / sizeof *the_log.rests)
    the_log.rests[the_log.rest_count++] = {place.next, place.end};
  pthread_mutex_unlock(&the_log.rests_mutex);
  place.next = place.end = place.last = nullptr;
}

/// A forked child shares the mapped log of its parent, and must not write to it.
void forget_log() {
  the_log.open = false;
}

Record* begin_chunk() noexcept {
  if (__atomic_load_n(&the_log.header->full_at, __ATOMIC_RELAXED) != 0) return nullptr;
  std::uint64_t const chunk = add(the_log.header->chunks, std::uint64_t{1});
  auto const at = static_cast<off_t>(chunk * chunk_bytes);
  // If the disk is full, a file without the blocks would raise a signal at the first write to memory.
  if (chunk < the_log.header->most_chunks && posix_fallocate(the_log.file, at, chunk_bytes) == 0) {
    void* const memory =
        mmap(nullptr, chunk_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, the_log.file, at);
    if (memory != MAP_FAILED) return static_cast<Record*>(memory);
  }
  add(the_log.header->chunks, ~std::uint64_t{0});
  std::uint64_t none = 0;
  __atomic_compare_exchange_n(&the_log.header->full_at, &none, log_time(), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return nullptr;
}

bool find_room() noexcept {
  if (place.last != nullptr) munmap(reinterpret_cast<char*>(place.end) - chunk_bytes, chunk_bytes);
  place.next = place.end = place.last = nullptr;
  pthread_mutex_lock(&the_log.rests_mutex);
  if (the_log.rest_count > 0) {
    Rest const rest = the_log.rests[--the_log.rest_count];
    place.next = rest.next;
    place.end = rest.end;
  }
  pthread_mutex_unlock(&the_log.rests_mutex);
  if (place.next != nullptr) return true;
  place.next = begin_chunk();
  if (place.next == nullptr) return false;
  place.end = place.next + records_in_chunk;
  return true;
}

/// The room for a record; null if there is none.
Record* room() noexcept {
  if (place.next == place.end && (place.ended || !find_room())) return nullptr;
  return place.next++;
}

/// A record counts as complete once its kind is written, so the kind is written last.
void put(Record* to, Record record) noexcept {
  record.thread = place.number;
  Kind const kind = record.kind;
  record.kind = Kind::none;
  std::memcpy(to, &record, sizeof record);
  __atomic_store_n(reinterpret_cast<std::uint8_t*>(to), static_cast<std::uint8_t>(kind), __ATOMIC_RELEASE);
  place.last = to;
}

void introduce_thread() noexcept {
  place.number = add(the_log.threads, std::uint32_t{1}) + 1;
  pthread_setspecific(the_log.at_thread_end, &the_log);
  char name[32] = {};
  prctl(PR_GET_NAME, name);
  Record* const to = room();
  if (to == nullptr) return;
  Record record{};
  record.kind = Kind::thread;
  record.first = static_cast<std::uint64_t>(syscall(SYS_gettid));
  record.begin = log_time();
  // The system's name has sixteen bytes, which begin at `first`.
  std::memcpy(&record.second, name, 2 * sizeof record.second);
  put(to, record);
}

void count(Record const& record) noexcept {
  Total* const totals = record.kind == Kind::call ? the_log.header->calls.data() + record.what
                                                  : the_log.header->activities.data() + static_cast<int>(record.kind);
  add(totals->count, std::uint64_t{1});
  add(totals->nanoseconds, record.end - record.begin);
  add(totals->bytes, record.bytes);
}

using Path = char[4096];

/// Opens a file with the first free name, and sets `path` to it.
int open_file(char const* to, Path& path) noexcept {
  struct stat what {};
  bool const folder = stat(to, &what) == 0 && S_ISDIR(what.st_mode);
  int const length = folder ? std::snprintf(path, sizeof path, "%s/%d.watch", to, getpid())
                            : std::snprintf(path, sizeof path, "%s", to);
  if (length <= 0 || static_cast<std::size_t>(length) + 16 >= sizeof path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  constexpr int how = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  int file = open(path, how, 0600);
  // The name is taken by a process that replaced its program, or by a child.
  for (int i = 1; file < 0 && errno == EEXIST && i < 100; ++i) {
    std::snprintf(path + length, sizeof path - static_cast<std::size_t>(length), ".%d", i);
    file = open(path, how, 0600);
  }
  return file;
}

/// Maps the first chunk of the file, and prepares the end of threads. `problem`: the errno of a failure.
void* map_header(int file, int& problem) noexcept {
  problem = posix_fallocate(file, 0, chunk_bytes);
  if (problem != 0) return nullptr;
  void* const memory = mmap(nullptr, chunk_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  problem = memory == MAP_FAILED ? errno : pthread_key_create(&the_log.at_thread_end, leave_room);
  return memory;
}

}  // namespace

std::uint64_t log_time() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

int open_log(char const* to, std::uint64_t longest) noexcept {
  // A file that grows beyond the limit of the process would raise a signal.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < longest) longest = limit.rlim_cur;
  if (longest < least_bytes) return EFBIG;
  Path path;
  int const file = open_file(to, path);
  if (file < 0) return errno;
  int problem = 0;
  void* const memory = map_header(file, problem);
  if (problem != 0) {
    close(file);
    unlink(path);
    return problem;
  }
  auto* const header = static_cast<Header*>(memory);
  header->process = static_cast<std::uint32_t>(getpid());
  header->parent = static_cast<std::uint32_t>(getppid());
  header->began = log_time();
  header->chunks = 1;
  header->most_chunks = longest / chunk_bytes;
  ssize_t const length = readlink("/proc/self/exe", header->program.data(), header->program.size() - 1);
  if (length < 0) header->program[0] = 0;
  header->magic = magic;
  the_log.file = file;
  the_log.header = header;
  pthread_atfork(nullptr, nullptr, forget_log);
  the_log.open = true;
  return 0;
}

void note_no_log(char const* path, int problem) noexcept {
  int const file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* const memory = mmap(nullptr, sizeof(Notes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return;
  auto* const notes = static_cast<Notes*>(memory);
  // Relaxed: they are read when all these processes have ended.
  __atomic_store_n(&notes->process, static_cast<std::uint32_t>(getpid()), __ATOMIC_RELAXED);
  __atomic_store_n(&notes->problem, problem, __ATOMIC_RELAXED);
  add(notes->without_log, std::uint32_t{1});
  munmap(memory, sizeof(Notes));
}

bool log_is_open() noexcept {
  return the_log.open;
}

void write_record(Record const& record) noexcept {
  if (!the_log.open) return;
  if (place.number == 0) introduce_thread();
  if (Record* const to = room()) {
    put(to, record);
  } else {
    count(record);
  }
}

void write_text(Kind kind, std::uint32_t number, std::uint8_t part, char const* text) noexcept {
  Record record{};
  record.kind = kind;
  record.what = part;
  record.correlation = number;
  std::size_t const length = strnlen(text, text_bytes);
  std::memcpy(reinterpret_cast<char*>(&record) + text_at, text, length);
  write_record(record);
}

void write_poll(Record const& record) noexcept {
  Record* const last = place.last;
  if (the_log.open && last != nullptr && last->kind == Kind::call && last->what == record.what &&
      last->first == record.first && last->stream == record.stream && (last->flags & failed) != 0) {
    last->end = record.end;
    ++last->bytes;
    return;
  }
  Record one = record;
  one.bytes = 1;
  write_record(one);
}

void note_refusal(Refusal why, std::uint64_t code) noexcept {
  if (!the_log.open) return;
  the_log.header->refusal_code = code;
  the_log.header->refusal = static_cast<std::uint64_t>(why);
}

void note_end() noexcept {
  if (the_log.open) the_log.header->ended = log_time();
}

}  // namespace penstock::injection
