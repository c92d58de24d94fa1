# SPDX-License-Identifier: Apache-2.0
# Decides PENSTOCK_WITH_LIBURING, and what is linked for it in PENSTOCK_LIBURING. Without it files are read plainly.
set(PENSTOCK_URING "AUTO" CACHE STRING "Read files by io_uring: AUTO (when liburing is found), ON, OFF")
set_property(CACHE PENSTOCK_URING PROPERTY STRINGS AUTO ON OFF)
set(PENSTOCK_WITH_LIBURING OFF)
set(PENSTOCK_LIBURING "")
if(NOT PENSTOCK_URING STREQUAL "OFF")
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    # 2.3 is Debian 12's, the oldest that it was tried with.
    pkg_check_modules(PENSTOCK_PC_LIBURING QUIET liburing>=2.3)
  endif()
  if(PENSTOCK_PC_LIBURING_FOUND)
    set(PENSTOCK_WITH_LIBURING ON)
    # Whoever links the installed libraries finds it where the linker looks.
    set(PENSTOCK_LIBURING $<BUILD_INTERFACE:${PENSTOCK_PC_LIBURING_LINK_LIBRARIES}> $<INSTALL_INTERFACE:uring>)
  elseif(PENSTOCK_URING STREQUAL "ON")
    message(FATAL_ERROR "PENSTOCK_URING is ON, but no liburing was found: install liburing-dev and pkg-config, or set it OFF.")
  endif()
endif()
message(STATUS "penstock: io_uring ${PENSTOCK_WITH_LIBURING}")
