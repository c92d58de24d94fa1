# SPDX-License-Identifier: Apache-2.0
# Defines Nats::nats. The configuration file that Debian 12 has names libraries that are not there, so it is not used. A static
# penstock links it, so the installed package brings this file along.
find_path(Nats_INCLUDE_DIR nats/nats.h)
find_library(Nats_LIBRARY nats)
if(Nats_INCLUDE_DIR AND EXISTS ${Nats_INCLUDE_DIR}/nats/version.h)
  file(STRINGS ${Nats_INCLUDE_DIR}/nats/version.h version_line REGEX "#define NATS_VERSION_STRING")
  string(REGEX MATCH "[0-9]+\\.[0-9]+(\\.[0-9]+)?" Nats_VERSION "${version_line}")
endif()
mark_as_advanced(Nats_INCLUDE_DIR Nats_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Nats
  REQUIRED_VARS Nats_LIBRARY Nats_INCLUDE_DIR
  VERSION_VAR Nats_VERSION
  REASON_FAILURE_MESSAGE "install libnats-dev, or set Nats_LIBRARY and Nats_INCLUDE_DIR")
if(Nats_FOUND AND NOT TARGET Nats::nats)
  add_library(Nats::nats UNKNOWN IMPORTED)
  set_target_properties(Nats::nats PROPERTIES
    IMPORTED_LOCATION ${Nats_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${Nats_INCLUDE_DIR})
endif()
