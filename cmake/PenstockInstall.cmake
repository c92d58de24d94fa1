# SPDX-License-Identifier: Apache-2.0
# penstock::penstock and penstock::legacy, and what `cmake --install` leaves behind, with `--component NAME` that of one component:
# its archives and headers, a CMake package, pkg-config files for each flavour, and what the thread sanitizer is to pass over.
include(CMakePackageConfigHelpers)
set(PENSTOCK_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/penstock)

# What penstockConfig.cmake knows of each component, from the bottom up.
set(PENSTOCK_PACKAGE_FACTS "")
set(libraries "")
foreach(component IN LISTS components)
  foreach(fact LIBRARY NEEDS PACKAGES LAYERS)
    get_property(${fact} GLOBAL PROPERTY PENSTOCK_COMPONENT_${component}_${fact})
  endforeach()
  if(NOT LIBRARY)
    continue()
  endif()
  string(APPEND PENSTOCK_PACKAGE_FACTS "list(APPEND penstock_components ${component})\n"
    "set(penstock_needs_${component} \"${NEEDS}\")\nset(penstock_packages_${component} \"${PACKAGES}\")\n")
  get_property(installed GLOBAL PROPERTY PENSTOCK_COMPONENT_${component}_INSTALLED)
  if(installed)
    list(APPEND libraries ${component})
    install(TARGETS ${installed} EXPORT penstock-${component} COMPONENT ${component})
    install(EXPORT penstock-${component} NAMESPACE penstock:: FILE penstock-${component}Targets.cmake
      DESTINATION ${PENSTOCK_PACKAGE_DIR} COMPONENT ${component})
  endif()
  # What programs include. These headers include no others of penstock's, and no others are installed.
  foreach(layer IN LISTS LAYERS)
    get_property(headers GLOBAL PROPERTY PENSTOCK_LAYER_${layer}_PUBLIC)
    foreach(header IN LISTS headers)
      cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/include OUTPUT_VARIABLE path)
      cmake_path(GET path PARENT_PATH folder)
      install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder} COMPONENT ${component})
      if(NOT folder STREQUAL "penstock")
        # For one version it is found where it was before components had folders.
        cmake_path(GET path FILENAME name)
        set(moved ${PROJECT_BINARY_DIR}/moved_headers/penstock/${name})
        file(CONFIGURE OUTPUT ${moved} @ONLY CONTENT
          "// SPDX-License-Identifier: Apache-2.0\n// Include @path@: this name goes with the next version.\n#pragma once\n\n#include \"@path@\"\n")
        install(FILES ${moved} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/penstock COMPONENT ${component})
      endif()
    endforeach()
  endforeach()
endforeach()
install(FILES include/penstock/penstock.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/penstock COMPONENT engine)
if(PENSTOCK_TOOLS)
  install(FILES cmake/PenstockJob.cmake DESTINATION ${PENSTOCK_PACKAGE_DIR} COMPONENT jobs)
endif()

if(PENSTOCK_WITH_CUDA)
  set(PENSTOCK_PC_CUDA "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
endif()
file(RELATIVE_PATH PENSTOCK_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)

set(PENSTOCK_WHOLE_per_thread penstock)
set(PENSTOCK_WHOLE_legacy legacy)
foreach(flavour IN LISTS PENSTOCK_FLAVOURS)
  # A target that links this has the engine in one flavour, and with it each component that is there.
  set(suffix ${PENSTOCK_SUFFIX_${flavour}})
  set(whole penstock_whole${suffix})
  add_library(${whole} INTERFACE)
  add_library(penstock::${PENSTOCK_WHOLE_${flavour}} ALIAS ${whole})
  set_target_properties(${whole} PROPERTIES EXPORT_NAME ${PENSTOCK_WHOLE_${flavour}})
  target_link_libraries(${whole} INTERFACE $<INSTALL_INTERFACE:penstock_archive_engine${suffix}>)
  install(TARGETS ${whole} EXPORT penstock-engine COMPONENT engine)

  list(TRANSFORM PENSTOCK_DEFINITIONS_${flavour} PREPEND -D OUTPUT_VARIABLE PENSTOCK_PC_CFLAGS)
  list(JOIN PENSTOCK_PC_CFLAGS " " PENSTOCK_PC_CFLAGS)
  set(PENSTOCK_PC_LIBS "")
  foreach(component IN LISTS libraries)
    get_property(apart GLOBAL PROPERTY PENSTOCK_COMPONENT_${component}_BY_NAME_ONLY)
    if(apart)
      continue()
    endif()
    set(name ${component})
    if(TARGET penstock_component_${component}${suffix})
      set(name ${component}${suffix})
    endif()
    target_link_libraries(${whole} INTERFACE $<BUILD_INTERFACE:penstock_component_${name}>)
    if(NOT component STREQUAL "engine")
      target_link_libraries(${whole} INTERFACE $<INSTALL_INTERFACE:$<TARGET_NAME_IF_EXISTS:penstock::${name}>>)
    endif()
    # Components are declared from the bottom up; a linker wants them from the top down.
    if(TARGET penstock_archive_${component}_once)
      set(PENSTOCK_PC_LIBS "-lpenstock_${component}_once ${PENSTOCK_PC_LIBS}")
    endif()
    set(PENSTOCK_PC_LIBS "-lpenstock_${name} ${PENSTOCK_PC_LIBS}")
    # One of the engine alone, which comes with it, and one of all.
    if(component STREQUAL "engine")
      string(REPLACE _ - PENSTOCK_PC_NAME penstock-engine${suffix})
      configure_file(cmake/penstock.pc.in ${PROJECT_BINARY_DIR}/${PENSTOCK_PC_NAME}.pc @ONLY)
      install(FILES ${PROJECT_BINARY_DIR}/${PENSTOCK_PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT engine)
    endif()
  endforeach()
  string(REPLACE _ - PENSTOCK_PC_NAME penstock${suffix})
  configure_file(cmake/penstock.pc.in ${PROJECT_BINARY_DIR}/${PENSTOCK_PC_NAME}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${PENSTOCK_PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# For ./dev docs.
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/penstock/*.hpp ${PROJECT_SOURCE_DIR}/include/penstock/*/*.hpp)
list(JOIN headers "\n" headers)
file(WRITE ${PROJECT_BINARY_DIR}/installed_headers.txt "${headers}\n")

configure_package_config_file(cmake/penstockConfig.cmake.in ${PROJECT_BINARY_DIR}/penstockConfig.cmake
  INSTALL_DESTINATION ${PENSTOCK_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/penstockConfig.cmake ${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake
  cmake/FindHwloc.cmake DESTINATION ${PENSTOCK_PACKAGE_DIR} COMPONENT engine)

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT engine)
install(FILES tests/support/tsan.supp DESTINATION ${CMAKE_INSTALL_DATADIR}/penstock COMPONENT engine)
install(FILES README.md CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.c PATTERN *.cpp PATTERN *.cu PATTERN *.cuh PATTERN *.hpp)
