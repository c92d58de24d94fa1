// SPDX-License-Identifier: Apache-2.0
#include "programs/command/ending.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "engine/core/failure_text.hpp"
#include "penstock/error.hpp"

namespace penstock::cli {

std::string unreadable_results(std::exception const& problem) {
  std::string words = problem.what();
  // "[json.exception.parse_error.101] " names a type of the parser, which does not help a user.
  if (std::size_t const end = words.find("] "); words.starts_with('[') && end != std::string::npos)
    words.erase(0, end + 2);
  return "Results of another process cannot be read (" + words +
         "): use programs of one build, and see that none of them was stopped.";
}

Complaint complaint_about(std::exception const& failure) {
  if (auto const* const error = dynamic_cast<Error const*>(&failure)) {
    return {error->what(), error->kind() == ErrorKind::bad_argument ? exit_bad_options : exit_device};
  }
  if (auto const* const json = dynamic_cast<nlohmann::json::exception const*>(&failure))
    return {unreadable_results(*json)};
  return {failure_text(failure)};
}

Interrupt::Interrupt(StandardOutput& output)
    : signals_({.output = output.descriptor(),
                .output_is_lost = [&output] { return !output.probe(); },
                .asked = [&output] { output.hurry(); },
                .hung_up = [this] { return hung_up(); },
                .ending = [&output] { output.close_between_lines(); },
                .exit_code = exit_interrupted}) {}

void Interrupt::on_hang_up(std::function<void()> reopen) const {
  std::scoped_lock const lock(mutex_);
  reopen_ = std::move(reopen);
}

bool Interrupt::hung_up() const {
  std::scoped_lock const lock(mutex_);
  if (!reopen_) return false;
  reopen_();
  return true;
}

}  // namespace penstock::cli
