// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace penstock::civetweb {

struct Context;
struct Connection;

/// As `mg_server_port`.
struct Port {
  int protocol = 0;
  int port = 0;
  int is_ssl = 0;
  int is_redirect = 0;
  int reserved[4] = {};
};

/// The beginning of `mg_request_info`.
struct RequestInfo {
  char const* method = nullptr;
};

/// What is called of the library: the functions that civetweb.h declares, from version 1.8 on.
///
/// Source: civetweb 1.15, civetweb.h.
struct Calls {
  unsigned (*init_library)(unsigned features) = nullptr;
  Context* (*start)(void const* callbacks, void* user, char const** options) = nullptr;
  void (*stop)(Context* context) = nullptr;
  void (*set_request_handler)(Context* context, char const* path, int (*handler)(Connection*, void*),
                              void* user) = nullptr;
  int (*get_server_ports)(Context const* context, int most, Port* ports) = nullptr;
  RequestInfo const* (*get_request_info)(Connection const* connection) = nullptr;
  char const* (*get_header)(Connection const* connection, char const* name) = nullptr;
  int (*write)(Connection* connection, void const* bytes, std::size_t size) = nullptr;
};

}  // namespace penstock::civetweb
