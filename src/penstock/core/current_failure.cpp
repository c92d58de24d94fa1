// SPDX-License-Identifier: Apache-2.0
#include "penstock/core/current_failure.hpp"

#include <exception>
#include <utility>

namespace penstock {

std::shared_ptr<Failure const> current_failure(std::string stage, ErrorKind otherwise) {
  auto const make = [&](std::string reason, ErrorKind kind) {
    return std::make_shared<Failure const>(Failure{std::move(stage), std::move(reason), kind});
  };
  try {
    throw;
  } catch (Error const& error) {
    return make(error.what(), error.kind());
  } catch (std::exception const& exception) {
    return make(exception.what(), otherwise);
  } catch (...) {
    return make("It threw something that is not a std::exception.", otherwise);
  }
}

}  // namespace penstock
