// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <string>

#include "engine/core/failure_text.hpp"
#include "penstock/error.hpp"

namespace penstock {

/// An error of the system for one address, for a caller that may have others.
class AddressProblem : public Error {
 public:
  AddressProblem(std::string const& address, int problem)
      : Error(ErrorKind::system,
              "Nothing can be received at " + address + ": " + system_problem(problem) + remedy_for(problem) + "."),
        problem_(problem) {}
  /// Names may resolve to IPv6 addresses on machines without IPv6.
  bool of_missing_version() const noexcept { return problem_ == EADDRNOTAVAIL || problem_ == EAFNOSUPPORT; }

 private:
  static std::string remedy_for(int problem) {
    if (problem == EADDRINUSE) return "; end what has it, or name another";
    if (problem == EADDRNOTAVAIL) return "; name an address of this machine";
    if (problem == EACCES) return "; name a port above 1023, or a folder that you may write to";
    if (problem == ENODEV) return "; name an interface that multicast comes by";
    if (problem == EINVAL) return "; an address of one link needs its interface, as fe80::1%eth0";
    if (problem == EPROTOTYPE) return "; a socket of another kind is there: name another path";
    if (problem == ENOPROTOOPT) return "; this system cannot coalesce datagrams: leave out coalesce";
    return {};
  }

  int problem_;
};

}  // namespace penstock
