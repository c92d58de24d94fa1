# SPDX-License-Identifier: Apache-2.0
# penstock::penstock, and what `cmake --install` leaves behind: the layers, their headers, a CMake package, a pkg-config file,
# and what the thread sanitizer is to pass over.
include(CMakePackageConfigHelpers)
set(PENSTOCK_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/penstock)

# Whoever links this has the library layers; the command is a program of its own.
add_library(penstock_whole INTERFACE)
add_library(penstock::penstock ALIAS penstock_whole)
set_target_properties(penstock_whole PROPERTIES EXPORT_NAME penstock)
install(TARGETS penstock_whole EXPORT penstock)

set(PENSTOCK_PC_LIBS "")
get_property(layers GLOBAL PROPERTY PENSTOCK_LAYERS)
foreach(layer IN LISTS layers)
  if(layer STREQUAL "cli" OR NOT TARGET penstock_${layer})
    continue()
  endif()
  target_link_libraries(penstock_whole INTERFACE penstock_${layer})
  install(TARGETS penstock_${layer} EXPORT penstock)
  # Layers are declared from the bottom up; a linker wants them from the top down.
  set(PENSTOCK_PC_LIBS "-lpenstock_${layer} ${PENSTOCK_PC_LIBS}")

  get_property(files GLOBAL PROPERTY PENSTOCK_LAYER_${layer}_FILES)
  list(FILTER files INCLUDE REGEX "\\.(hpp|cuh)$")
  foreach(header IN LISTS files)
    cmake_path(GET header PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(REGEX REPLACE "^src/penstock/" "" folder ${folder})
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/penstock/${folder})
  endforeach()
endforeach()

install(EXPORT penstock NAMESPACE penstock:: FILE penstockTargets.cmake DESTINATION ${PENSTOCK_PACKAGE_DIR})
configure_package_config_file(cmake/penstockConfig.cmake.in ${PROJECT_BINARY_DIR}/penstockConfig.cmake
  INSTALL_DESTINATION ${PENSTOCK_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/penstockConfig.cmake ${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake
  cmake/FindHwloc.cmake DESTINATION ${PENSTOCK_PACKAGE_DIR})

if(PENSTOCK_WITH_CUDA)
  set(PENSTOCK_PC_CFLAGS -DCUDA_API_PER_THREAD_DEFAULT_STREAM=1)
  set(PENSTOCK_PC_CUDA "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
endif()
file(RELATIVE_PATH PENSTOCK_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/penstock.pc.in ${PROJECT_BINARY_DIR}/penstock.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/penstock.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES tests/support/tsan.supp DESTINATION ${CMAKE_INSTALL_DATADIR}/penstock)
