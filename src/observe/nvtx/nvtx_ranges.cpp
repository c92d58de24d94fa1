// SPDX-License-Identifier: Apache-2.0
#include "observe/nvtx/nvtx_ranges.hpp"

// NVTX is headers only. A CUDA toolkit may have been installed without them.
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <unistd.h>

#include "engine/core/shared_library.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

class NvtxRanges final : public Ranges {
 public:
  NvtxRanges() : domain_(nvtxDomainCreateA("penstock")) {
    for (std::size_t i = 0; i < step_count; ++i) {
      names_[i] = nvtxDomainRegisterStringA(domain_, std::string(step_name(static_cast<Step>(i))).c_str());
    }
  }
  NvtxRanges(NvtxRanges const&) = delete;
  NvtxRanges& operator=(NvtxRanges const&) = delete;
  ~NvtxRanges() override { nvtxDomainDestroy(domain_); }

  void begin(Step step, std::optional<std::uint64_t> tile) noexcept override {
    nvtxEventAttributes_t range{};
    range.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    range.message.registered = names_[static_cast<std::size_t>(step)];
    push(range, tile);
  }
  void end(Step /*step*/) noexcept override { nvtxDomainRangePop(domain_); }
  void begin_span(std::string_view name, std::optional<std::uint64_t> tile) noexcept override {
    // A tool wants a text that ends with a zero. What is longer is cut, since there may be no memory for a copy.
    std::array<char, 256> text{};
    name.copy(text.data(), text.size() - 1);
    nvtxEventAttributes_t range{};
    range.messageType = NVTX_MESSAGE_TYPE_ASCII;
    range.message.ascii = text.data();
    push(range, tile);
  }
  void end_span() noexcept override { nvtxDomainRangePop(domain_); }

 private:
  void push(nvtxEventAttributes_t& range, std::optional<std::uint64_t> tile) noexcept {
    name_this_thread();
    range.version = NVTX_VERSION;
    range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    if (tile) {
      range.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
      range.payload.ullValue = *tile;
    }
    nvtxDomainRangePushEx(domain_, &range);
  }
  static void name_this_thread() noexcept {
    // The name belongs to the thread, so it is set once, for all objects and calls.
    thread_local bool named = false;
    if (named) return;
    named = true;
    std::array<char, 16> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), name.data());
  }

  nvtxDomainHandle_t domain_;
  std::array<nvtxStringHandle_t, step_count> names_{};
};

}  // namespace

bool built_with_nvtx() noexcept {
  return true;
}

std::unique_ptr<Ranges> make_nvtx_ranges() {
  // NVTX loads the tool with this name at its first call, from any place.
  char const* const tool = std::getenv("NVTX_INJECTION64_PATH");
  if (tool != nullptr && is_relative_path(tool)) {
    throw Error(ErrorKind::bad_argument, "NVTX_INJECTION64_PATH is '" + std::string(tool) +
                                             "', which depends on the current directory: make it an absolute path.");
  }
  return std::make_unique<NvtxRanges>();
}

}  // namespace penstock

#else

namespace penstock {

bool built_with_nvtx() noexcept {
  return false;
}

std::unique_ptr<Ranges> make_nvtx_ranges() {
  return nullptr;
}

}  // namespace penstock

#endif
