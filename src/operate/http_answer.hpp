// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace penstock {

/// A peer's request.
struct HttpRequest {
  std::string path;      ///< Path, such as "/metrics", without a question mark and what follows it.
  std::string accepted;  ///< The types of its header Accept; empty without one.
};

struct HttpAnswer {
  char const* status = "200 OK";
  char const* type = "text/plain; charset=utf-8";
  std::string text = {};
};

/// The text of its exceptions is sent in an answer of 500.
using HttpAnswerer = std::function<HttpAnswer(HttpRequest const&)>;

}  // namespace penstock
