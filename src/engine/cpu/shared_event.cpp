// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/shared_event.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/core/between_processes.hpp"
#include "penstock/error.hpp"

namespace penstock::cpu {

namespace {

/// The beginning of the page.
struct PageHead {
  char kind[16];         ///< Same as in the handle.
  std::uint64_t secret;  ///< Same as in the handle: a descriptor may have become another file.
};

}  // namespace

struct SharedEvent::Page {
  PageHead head;
  std::atomic<std::uint64_t> recorded;
  std::atomic<std::uint64_t> passed;
  std::atomic<std::uint32_t> changes;   ///< Number of changes of `passed`, on which threads sleep.
  std::atomic<std::uint32_t> places;    ///< Number of times that it was opened so far.
  std::atomic<std::uint32_t> recorder;  ///< The place of the process that recorded last.
};

namespace {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "Processes share these numbers.");

constexpr std::size_t page_bytes = 4096;
constexpr char kind_of_event[16] = "penstock event";
/// These keep a process from cutting the page: a look at it would then end the others.
constexpr int no_new_size = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/// Layout of the 64 bytes of a handle.
struct HandleFields {
  char kind[16];
  std::uint64_t secret;
  std::int64_t process;
  std::int64_t descriptor;
};
static_assert(sizeof(HandleFields) <= sizeof(EventHandle));

std::string system_words() {
  return std::error_code(errno, std::generic_category()).message();
}

}  // namespace

SharedEvent::SharedEvent(int descriptor) : descriptor_(descriptor) {
  void* const mapped = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) {
    std::string const words = system_words();
    close(descriptor_);
    throw Error(ErrorKind::system, "The page of an event of several processes cannot be mapped: " + words +
                                       ". Free memory, or raise the limit of mappings.");
  }
  page_ = static_cast<Page*>(mapped);
}

void SharedEvent::take_place() {
  place_ = page_->places.fetch_add(1, std::memory_order_relaxed) + 1;
  // It has this byte until it ends, however it ends.
  if (lock_byte(descriptor_, place_)) return;
  throw Error(ErrorKind::system,
              "The page of an event of several processes cannot be locked: " + system_words() + ". Raise `ulimit -x`.");
}

std::shared_ptr<SharedEvent> SharedEvent::make() {
  int const descriptor = memfd_create("penstock-event", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0 || ftruncate(descriptor, page_bytes) != 0 || fcntl(descriptor, F_ADD_SEALS, no_new_size) != 0) {
    std::string const words = system_words();
    if (descriptor >= 0) close(descriptor);
    throw Error(ErrorKind::system,
                "An event of several processes cannot be made: " + words + ". Free memory, or raise `ulimit -n`.");
  }
  std::shared_ptr<SharedEvent> event(new SharedEvent(descriptor));
  if (getrandom(&event->page_->head.secret, sizeof(event->page_->head.secret), 0) !=
      sizeof(event->page_->head.secret)) {
    throw Error(ErrorKind::system, "The system gives no random bytes: " + system_words() + ". Try again.");
  }
  std::memcpy(event->page_->head.kind, kind_of_event, sizeof(kind_of_event));
  event->take_place();
  return event;
}

std::shared_ptr<SharedEvent> SharedEvent::open(EventHandle const& handle) {
  HandleFields fields;
  std::memcpy(&fields, handle.bytes.data(), sizeof(fields));
  if (std::memcmp(fields.kind, kind_of_event, sizeof(kind_of_event)) != 0) {
    throw Error(ErrorKind::bad_argument,
                "This is not the handle of an event of a CPU device: take it from EventRef::handle in the other "
                "process, with the same version of penstock.");
  }
  Error const gone(ErrorKind::bad_argument,
                   "The event of this handle is not there: the process that made it must still have it, be of the same "
                   "user, and share this process's PID namespace and /proc.");
  std::string const path = "/proc/" + std::to_string(fields.process) + "/fd/" + std::to_string(fields.descriptor);
  // This looks at what was opened first: the descriptor may be of anything now, and a read of that could wait.
  int const descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat found = {};
  if (descriptor < 0) throw Error(gone);
  // Nothing is written before it is known to be the page: its size cannot change, and it says so itself.
  int const seals = fcntl(descriptor, F_GET_SEALS);
  PageHead head = {};
  bool const is_page =
      fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) && found.st_size == page_bytes && seals >= 0 &&
      (seals & no_new_size) == no_new_size && pread(descriptor, &head, sizeof(head), 0) == sizeof(head) &&
      std::memcmp(head.kind, kind_of_event, sizeof(kind_of_event)) == 0 && head.secret == fields.secret;
  if (!is_page) {
    close(descriptor);
    throw Error(gone);
  }
  std::shared_ptr<SharedEvent> event(new SharedEvent(descriptor));
  event->take_place();
  return event;
}

SharedEvent::~SharedEvent() {
  munmap(page_, page_bytes);
  close(descriptor_);
}

void SharedEvent::end() noexcept {
  std::unique_lock lock(mutex_);
  if (!watcher_.joinable()) return;
  ending_ = true;
  std::thread watcher = std::move(watcher_);
  bool const idle = waiting_.empty();
  wake();
  lock.unlock();
  // A stream may still wait for the other process. The thread keeps this alive, and ends once it has told all.
  idle ? watcher.join() : watcher.detach();
}

EventHandle SharedEvent::handle() const noexcept {
  HandleFields fields = {};
  std::memcpy(fields.kind, kind_of_event, sizeof(kind_of_event));
  fields.secret = page_->head.secret;
  fields.process = getpid();
  fields.descriptor = descriptor_;
  EventHandle handle;
  std::memcpy(handle.bytes.data(), &fields, sizeof(fields));
  return handle;
}

std::uint64_t SharedEvent::record() noexcept {
  // The recorder comes first, so that a process that sees the new number also sees its recorder.
  page_->recorder.store(place_, std::memory_order_relaxed);
  return page_->recorded.fetch_add(1, std::memory_order_release) + 1;
}

void SharedEvent::pass(std::uint64_t record) noexcept {
  std::uint64_t before = page_->passed.load(std::memory_order_relaxed);
  // Release: a thread that sees the number sees what the stream wrote before.
  while (before < record && !page_->passed.compare_exchange_weak(before, record, std::memory_order_release)) {
  }
  wake();
}

std::uint64_t SharedEvent::recorded() const noexcept {
  return page_->recorded.load(std::memory_order_acquire);
}

bool SharedEvent::recorded_here() const noexcept {
  return page_->recorder.load(std::memory_order_relaxed) == place_;
}

bool SharedEvent::passed(std::uint64_t record) const noexcept {
  return page_->passed.load(std::memory_order_acquire) >= record;
}

void SharedEvent::wake() noexcept {
  page_->changes.fetch_add(1, std::memory_order_release);
  wake_all_on(page_->changes);
}

std::uint32_t SharedEvent::changes() const noexcept {
  return page_->changes.load(std::memory_order_acquire);
}

void SharedEvent::wait_a_while(std::uint64_t record) noexcept {
  std::uint32_t const seen = changes();
  if (!passed(record)) await_change(record, seen);
}

/// Sleeps until there are other changes than `seen`, for a while at most.
void SharedEvent::await_change(std::uint64_t record, std::uint32_t seen) noexcept {
  constexpr std::chrono::milliseconds a_while(100);
  sleep_on(page_->changes, seen, a_while);
  if (changes() != seen || recorded_here() || passed(record)) return;
  std::uint64_t const last = recorded();
  if (!is_byte_locked(descriptor_, page_->recorder.load(std::memory_order_relaxed))) pass(last);
}

void SharedEvent::tell_when_passed(std::uint64_t record, std::unique_ptr<Onward>& onward) {
  std::lock_guard const lock(mutex_);
  waiting_.reserve(waiting_.size() + 1);
  if (!watcher_.joinable()) {
    try {
      watcher_ = std::thread([self = shared_from_this()] { self->watch(); });
    } catch (std::system_error const& refused) {
      throw Error(ErrorKind::system, std::string("No thread can be started to watch an event of another process: ") +
                                         refused.what() + ". Raise `ulimit -u`.");
    }
  }
  waiting_.emplace_back(record, std::move(onward));
  wake();
}

/// Tells those whose record has passed, until the event has no owner here and none of them is left.
void SharedEvent::watch() noexcept {
  pthread_setname_np(pthread_self(), "ps-event");
  for (;;) {
    std::unique_ptr<Onward> due;
    std::uint64_t next = UINT64_MAX;
    bool ended = false;
    std::uint32_t const seen = changes();
    {
      std::lock_guard const lock(mutex_);
      for (auto& [record, onward] : waiting_) {
        if (!passed(record)) {
          next = std::min(next, record);
          continue;
        }
        onward->next = std::move(due);
        due = std::move(onward);
      }
      std::erase_if(waiting_, [](auto const& one) { return one.second == nullptr; });
      ended = ending_ && waiting_.empty();
    }
    tell_onward(std::move(due));
    if (ended) return;
    if (next != UINT64_MAX) {
      await_change(next, seen);
    } else {
      sleep_on(page_->changes, seen, std::chrono::hours(1));
    }
  }
}

}  // namespace penstock::cpu
