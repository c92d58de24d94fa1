# SPDX-License-Identifier: Apache-2.0
# Defines Hwloc::hwloc. A static penstock links it, so the installed package brings this file along.
find_path(Hwloc_INCLUDE_DIR hwloc.h)
find_library(Hwloc_LIBRARY hwloc)
if(Hwloc_INCLUDE_DIR AND EXISTS ${Hwloc_INCLUDE_DIR}/hwloc/autogen/config.h)
  file(STRINGS ${Hwloc_INCLUDE_DIR}/hwloc/autogen/config.h version_line REGEX "#define HWLOC_VERSION \"")
  string(REGEX MATCH "[0-9]+\\.[0-9]+(\\.[0-9]+)?" Hwloc_VERSION "${version_line}")
endif()
mark_as_advanced(Hwloc_INCLUDE_DIR Hwloc_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hwloc
  REQUIRED_VARS Hwloc_LIBRARY Hwloc_INCLUDE_DIR
  VERSION_VAR Hwloc_VERSION
  REASON_FAILURE_MESSAGE "install libhwloc-dev, or set Hwloc_LIBRARY and Hwloc_INCLUDE_DIR")
if(Hwloc_FOUND AND NOT TARGET Hwloc::hwloc)
  add_library(Hwloc::hwloc UNKNOWN IMPORTED)
  set_target_properties(Hwloc::hwloc PROPERTIES
    IMPORTED_LOCATION ${Hwloc_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${Hwloc_INCLUDE_DIR})
endif()
