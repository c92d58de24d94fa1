// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>

#include "engine/core/say.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Initialized at compile time and never destroyed, so that static objects may send messages.
constinit std::atomic<MessageHook> message_hook{&write_to_standard_error};

}  // namespace

void write_to_standard_error(std::string_view sentence) noexcept {
  std::fprintf(stderr, "penstock: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
}

MessageHook set_message_hook(MessageHook hook) noexcept {
  return message_hook.exchange(hook);
}

void say(char const* format, ...) noexcept {
  MessageHook const hook = message_hook.load();
  if (hook == nullptr) return;
  char text[1001];
  std::va_list values;
  va_start(values, format);
  int const length = std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  if (length > 0) hook({text, std::min<std::size_t>(static_cast<std::size_t>(length), sizeof text - 1)});
}

}  // namespace penstock
