// SPDX-License-Identifier: Apache-2.0
#include "penstock/core/current_failure.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <string>

namespace penstock {
namespace {

/// A failure that needs no memory: its strings are short enough to lie in the object itself, and nothing counts its
/// holders.
std::shared_ptr<Failure const> out_of_memory(std::string_view stage) noexcept {
  constexpr auto kind = ErrorKind::out_of_memory;
  static std::array<Failure, 9> const made{{{"host stage", "Out of memory.", kind},
                                            {"source", "Out of memory.", kind},
                                            {"upload", "Out of memory.", kind},
                                            {"stage", "Out of memory.", kind},
                                            {"download", "Out of memory.", kind},
                                            {"signal", "Out of memory.", kind},
                                            {"sink", "Out of memory.", kind},
                                            {"finish", "Out of memory.", kind},
                                            {"merge", "Out of memory.", kind}}};
  auto const same = [stage](Failure const& failure) { return failure.stage == stage; };
  auto const found = std::find_if(made.begin(), made.end(), same);
  return {std::shared_ptr<void>(), found == made.end() ? &made.front() : &*found};
}

std::shared_ptr<Failure const> make(std::string_view stage, char const* reason, ErrorKind kind) {
  return std::make_shared<Failure const>(Failure{std::string(stage), reason, kind});
}

}  // namespace

std::shared_ptr<Failure const> current_failure(std::string_view stage, ErrorKind otherwise) noexcept {
  try {
    try {
      throw;
    } catch (Error const& error) {
      return make(stage, error.what(), error.kind());
    } catch (std::bad_alloc const&) {
      return out_of_memory(stage);
    } catch (std::exception const& exception) {
      return make(stage, exception.what(), otherwise);
    } catch (...) {
      return make(stage, "It threw something that is not a std::exception.", otherwise);
    }
  } catch (...) {
    return out_of_memory(stage);
  }
}

}  // namespace penstock
