// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace penstock {

/// What a peer asks for.
struct HttpRequest {
  std::string path;      ///< As "/metrics", without what follows a question mark.
  std::string accepted;  ///< The types of its header Accept; empty without one.
};

struct HttpAnswer {
  char const* status = "200 OK";
  char const* type = "text/plain; charset=utf-8";
  std::string text = {};
};

/// What it throws is the text of an answer of 500.
using HttpAnswerer = std::function<HttpAnswer(HttpRequest const&)>;

}  // namespace penstock
