// SPDX-License-Identifier: Apache-2.0
#include "engine/core/failure_text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <new>
#include <string>

namespace penstock {
namespace {

constexpr char const* remedy_for_descriptors = "let more be open (ulimit -n), or ask for fewer threads";

bool is_of_descriptors(std::error_code problem) {
  return problem == std::errc::too_many_files_open || problem == std::errc::too_many_files_open_in_system;
}

/// Returns a sentence with the system's own words for `failure`, and with the remedy where one is known.
std::string of_system(std::system_error const& failure) {
  std::string const words = failure.code().message();
  if (failure.code() == std::errc::resource_unavailable_try_again) {
    return "The system starts no more threads (" + words + "): " + remedy_for_threads();
  }
  if (is_of_descriptors(failure.code()))
    return "No more files can be opened (" + words + "): " + remedy_for_descriptors + ".";
  return "The system refused: " + std::string(failure.what()) + ". See what limits are set (ulimit -a), and try again.";
}

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

std::string failure_text(std::exception const& failure) {
  if (dynamic_cast<Error const*>(&failure) != nullptr) return failure.what();
  if (dynamic_cast<std::bad_alloc const*>(&failure) != nullptr) {
    return "There is not enough memory: let there be more (ulimit -v, or memory.max of the cgroup), or ask for fewer "
           "or smaller tiles and fewer threads.";
  }
  if (auto const* const refused = dynamic_cast<std::system_error const*>(&failure)) return of_system(*refused);
  return "Something failed that was not foreseen: " + std::string(failure.what()) + ". Please report it.";
}

std::string system_problem(int number) {
  std::error_code const problem(number, std::generic_category());
  return problem.message() + " (os error " + std::to_string(number) + ")" +
         (is_of_descriptors(problem) ? std::string(": ") + remedy_for_descriptors : "");
}

std::string remedy_for_threads() {
  return "ask for fewer of them, let more be started (ulimit -u, or pids.max of the cgroup), or, where memory is "
         "limited, let there be more for their stacks (ulimit -v).";
}

std::string remedy_for_writing(int problem) {
  switch (problem) {
    case ENOSPC:
    case EDQUOT:
      return "see that its disk has room";
    case EFBIG:
      return "let files be larger (ulimit -f)";
    case EBADF:
      return "see that it is open";
    case EPIPE:
    case ECONNRESET:
      return "see that its reader reads all";
    default:
      return "see what keeps it from taking all";
  }
}

std::optional<Error> shortage(std::string const& what, std::error_code problem) {
  std::string const text = what + " cannot be opened. ";
  if (is_of_descriptors(problem)) return Error(ErrorKind::system, text + failure_text(std::system_error(problem)));
  if (problem == std::errc::not_enough_memory)
    return Error(ErrorKind::out_of_memory, text + failure_text(std::bad_alloc()));
  return std::nullopt;
}

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
