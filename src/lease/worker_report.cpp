// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "lease/worker_page.hpp"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "penstock/lease/workers.hpp"

namespace penstock {
namespace {

constexpr int page_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

WorkerPage* page_of_this_process() noexcept {
  char const* const text = std::getenv(worker_page_variable);
  if (text == nullptr) return nullptr;
  int descriptor = -1;
  char const* const end = text + std::strlen(text);
  if (std::from_chars(text, end, descriptor).ptr != end) return nullptr;
  return map_worker_page(descriptor);
}

}  // namespace

int make_worker_page() noexcept {
  int const memory = memfd_create("penstock-worker", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory < 0) return -1;
  if (ftruncate(memory, sizeof(WorkerPage)) == 0 && fcntl(memory, F_ADD_SEALS, page_seals) == 0) return memory;
  close(memory);
  return -1;
}

WorkerPage* map_worker_page(int descriptor) noexcept {
  // The variable may have reached a program that has another file by this number: only such memory has these seals.
  struct stat status {};
  if (descriptor < 0 || fcntl(descriptor, F_GET_SEALS) != page_seals || fstat(descriptor, &status) != 0 ||
      status.st_size != sizeof(WorkerPage))
    return nullptr;
  void* const memory = mmap(nullptr, sizeof(WorkerPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<WorkerPage*>(memory);
}

void unmap_worker_page(WorkerPage* page) noexcept {
  if (page != nullptr) munmap(page, sizeof(WorkerPage));
}

// Each count stands by itself, so no order between them is needed.
WorkerReport::WorkerReport() noexcept : page_(page_of_this_process()) {
  if (page_ != nullptr) page_->reports.fetch_add(1, std::memory_order_relaxed);
}

WorkerReport::~WorkerReport() {
  asks(false);
  holds(0);
  unmap_worker_page(page_);
}

void WorkerReport::moved() noexcept {
  if (page_ != nullptr) page_->moved.fetch_add(1, std::memory_order_relaxed);
}

void WorkerReport::answered() noexcept {
  if (page_ != nullptr) page_->answered.fetch_add(1, std::memory_order_relaxed);
}

void WorkerReport::holds(std::size_t leases) noexcept {
  // Unsigned numbers wrap, so this also subtracts.
  if (page_ != nullptr && leases != held_) page_->held.fetch_add(leases - held_, std::memory_order_relaxed);
  held_ = leases;
}

void WorkerReport::asks(bool waits) noexcept {
  if (page_ != nullptr && waits != asks_) page_->asking.fetch_add(waits ? 1U : ~0U, std::memory_order_relaxed);
  asks_ = waits;
}

}  // namespace penstock
