// SPDX-License-Identifier: Apache-2.0
// A library to preload: from `main` on it counts what a program asks the system for, and refuses what it is told to.
//
// PENSTOCK_REFUSE=memory:12    the twelfth call of the malloc family fails; memory:12- all from the twelfth on that
//                              ask for a KiB or more: where memory has run out, small
//                              pieces are still to be had.
//                 thread:3     the third pthread_create fails with EAGAIN.
//                 mapping:5    the fifth mmap that the program itself calls fails with ENOMEM.
// PENSTOCK_REFUSE_REPORT=FILE  gets a line when `main` begins, one at a refusal, and at the end how often each kind was
//                 asked for; FILE may be the number of a descriptor.
// PENSTOCK_REFUSE_FROM=thread  memory is counted from the first pthread_create on, when a command has read its options.
// PENSTOCK_REFUSE_TRACE=1      also has the addresses of the callers.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
// Names of glibc's own family where it is replaced.
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace {

/// One kind of thing that a program asks for.
struct Kind {
  char const* name;
  std::atomic<std::uint64_t> asked{0};
  std::uint64_t refused_from = 0;  ///< The first that is refused; 0 for none.
  bool for_good = false;           ///< All from then on.
  std::atomic<bool> reported{false};
};
/// Pieces smaller than this are given though memory is refused for good.
constexpr std::size_t most_that_remains = 1024;

// The library has no object to keep these in: the program does not know of it.
Kind memory{"memory"}, thread{"thread"}, mapping{"mapping"};
std::atomic<bool> counting{false};
bool traced = false;
bool from_first_thread = false;
int report = -1;
/// Set while this library itself asks; so that it needs no memory of its own, its place is known when the program
/// starts.
__attribute__((tls_model("initial-exec"))) thread_local bool own_call = false;

void write_line(char const* text, int length) {
  if (report >= 0 && length > 0) static_cast<void>(!write(report, text, static_cast<std::size_t>(length)));
}

void report_refusal(Kind const& kind, std::uint64_t number) {
  own_call = true;
  char line[96];
  write_line(line,
             std::snprintf(line, sizeof line, "refused %s %llu\n", kind.name, static_cast<unsigned long long>(number)));
  if (traced) {
    void* callers[48];
    backtrace_symbols_fd(callers, backtrace(callers, 48), report);
  }
  own_call = false;
}

/// Counts one call, and says whether it is to fail.
bool refuse(Kind& kind, std::size_t bytes = most_that_remains) {
  if (own_call || !counting.load(std::memory_order_relaxed)) return false;
  if (from_first_thread && &kind == &memory && thread.asked.load(std::memory_order_relaxed) == 0) return false;
  std::uint64_t const number = kind.asked.fetch_add(1, std::memory_order_relaxed) + 1;
  if (kind.refused_from == 0) return false;
  bool const refused =
      kind.for_good ? number >= kind.refused_from && bytes >= most_that_remains : number == kind.refused_from;
  if (refused && !kind.reported.exchange(true)) report_refusal(kind, number);
  return refused;
}

void read_order(char const* order) {
  for (Kind* const kind : {&memory, &thread, &mapping}) {
    std::size_t const length = std::strlen(kind->name);
    if (std::strncmp(order, kind->name, length) != 0 || order[length] != ':') continue;
    char* end = nullptr;
    kind->refused_from = std::strtoull(order + length + 1, &end, 10);
    kind->for_good = *end == '-';
  }
}

using Main = int (*)(int, char**, char**);
Main program_main = nullptr;

int counted_main(int count, char** arguments, char** environment) {
  own_call = true;
  if (char const* const place = std::getenv("PENSTOCK_REFUSE_REPORT")) {
    char* end = nullptr;
    long const open_already = std::strtol(place, &end, 10);
    report = *end == 0 ? static_cast<int>(open_already) : open(place, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  }
  write_line("began\n", 6);
  traced = std::getenv("PENSTOCK_REFUSE_TRACE") != nullptr;
  from_first_thread = std::getenv("PENSTOCK_REFUSE_FROM") != nullptr;
  void* first[1];
  if (traced) backtrace(first, 1);  // It loads a library at its first call.
  if (char const* const order = std::getenv("PENSTOCK_REFUSE")) read_order(order);
  own_call = false;
  counting.store(true);
  return program_main(count, arguments, environment);
}

__attribute__((destructor)) void report_counts() {
  counting.store(false);
  for (Kind const* const kind : {&memory, &thread, &mapping}) {
    char line[96];
    write_line(line, std::snprintf(line, sizeof line, "asked %s %llu\n", kind->name,
                                   static_cast<unsigned long long>(kind->asked.load())));
  }
}

template <class Function>
Function next(char const* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// Spares what a library asks for itself while this lives: it is neither counted nor refused.
class Spared {
 public:
  Spared() : before_(own_call) { own_call = true; }
  Spared(Spared const&) = delete;
  Spared& operator=(Spared const&) = delete;
  ~Spared() { own_call = before_; }

 private:
  bool const before_;
};

void* no_memory() {
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

extern "C" {

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
__attribute__((visibility("default"))) int __libc_start_main(Main main, int count, char** arguments, void (*start)(),
                                                             void (*finish)(), void (*loader)(), void* stack) {
  program_main = main;
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  return next<Start>("__libc_start_main")(&counted_main, count, arguments, start, finish, loader, stack);
}

__attribute__((visibility("default"))) void* malloc(std::size_t bytes) {
  return refuse(memory, bytes) ? no_memory() : __libc_malloc(bytes);
}
__attribute__((visibility("default"))) void* calloc(std::size_t count, std::size_t bytes) {
  return refuse(memory, count * bytes) ? no_memory() : __libc_calloc(count, bytes);
}
__attribute__((visibility("default"))) void* realloc(void* block, std::size_t bytes) {
  return bytes != 0 && refuse(memory, bytes) ? no_memory() : __libc_realloc(block, bytes);
}
__attribute__((visibility("default"))) void* memalign(std::size_t alignment, std::size_t bytes) {
  return refuse(memory, bytes) ? no_memory() : __libc_memalign(alignment, bytes);
}
__attribute__((visibility("default"))) void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return memalign(alignment, bytes);
}
__attribute__((visibility("default"))) int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  int const before = errno;
  void* const got = memalign(alignment, bytes);
  errno = before;
  if (got == nullptr) return ENOMEM;
  *block = got;
  return 0;
}

__attribute__((visibility("default"))) int pthread_create(pthread_t* made, pthread_attr_t const* attributes,
                                                          void* (*body)(void*), void* argument) {
  if (refuse(thread)) return EAGAIN;
  return next<decltype(&pthread_create)>("pthread_create")(made, attributes, body, argument);
}

__attribute__((visibility("default"))) void* mmap(void* where, std::size_t bytes, int protection, int flags, int file,
                                                  off_t offset) {
  if (refuse(mapping)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(syscall(SYS_mmap, where, bytes, protection, flags, file, offset));
}

// hwloc 2.9 uses what malloc gives it without a look, so nothing but a crash can be learnt from a refusal in there.
struct hwloc_topology;
__attribute__((visibility("default"))) int hwloc_topology_init(hwloc_topology** topology) {
  Spared const spared;
  return next<decltype(&hwloc_topology_init)>("hwloc_topology_init")(topology);
}
__attribute__((visibility("default"))) int hwloc_topology_load(hwloc_topology* topology) {
  Spared const spared;
  return next<decltype(&hwloc_topology_load)>("hwloc_topology_load")(topology);
}
__attribute__((visibility("default"))) void hwloc_topology_destroy(hwloc_topology* topology) {
  Spared const spared;
  next<decltype(&hwloc_topology_destroy)>("hwloc_topology_destroy")(topology);
}

}  // extern "C"
