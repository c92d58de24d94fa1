# SPDX-License-Identifier: Apache-2.0
# What makes a mistake in the project's own objects and programs harder to exploit, and where its programs look for their libraries.
# Users inherit none of it. tests/house/hardening.sh checks each program; docs/decisions/dependencies.md has the reasons.

# A program that is installed would otherwise get another run path then, and until then a placeholder that ends in an empty element,
# which means the current directory. So each program has the final one from the beginning: folders outside of the system's that
# it was linked from, and what CMAKE_INSTALL_RPATH says.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
if(NOT DEFINED CMAKE_INSTALL_RPATH_USE_LINK_PATH)
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
endif()

# Containers and spans check their indices. kernels/ has none of it: there it would keep loops from being vectorised.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-D_GLIBCXX_ASSERTIONS>)

# Sanitizers check more than these, and some of these hide what they look for.
if(PENSTOCK_SANITIZE STREQUAL "")
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES CXX)

  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fstack-protector-strong;-fstack-clash-protection>"
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fstack-protector-strong,-fstack-clash-protection>)
  # It needs an optimiser.
  add_compile_options("$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>")
  add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endif()
