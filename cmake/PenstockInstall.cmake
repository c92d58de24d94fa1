# SPDX-License-Identifier: Apache-2.0
# penstock::penstock and penstock::legacy, and what `cmake --install` leaves behind: the layers, their headers, a CMake
# package, a pkg-config file for each flavour, and what the thread sanitizer is to pass over.
include(CMakePackageConfigHelpers)
set(PENSTOCK_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/penstock)
get_property(layers GLOBAL PROPERTY PENSTOCK_LAYERS)
get_property(program_layers GLOBAL PROPERTY PENSTOCK_PROGRAM_LAYERS)
list(REMOVE_ITEM layers ${program_layers})

if(PENSTOCK_WITH_CUDA)
  set(PENSTOCK_PC_CUDA "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
endif()
file(RELATIVE_PATH PENSTOCK_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)

set(PENSTOCK_WHOLE_per_thread penstock)
set(PENSTOCK_WHOLE_legacy legacy)
set(PENSTOCK_PC_per_thread penstock)
set(PENSTOCK_PC_legacy penstock-legacy)
set(installed "")
foreach(flavour IN LISTS PENSTOCK_FLAVOURS)
  # Whoever links this has the library layers in one flavour.
  set(suffix ${PENSTOCK_SUFFIX_${flavour}})
  set(whole penstock_whole${suffix})
  add_library(${whole} INTERFACE)
  add_library(penstock::${PENSTOCK_WHOLE_${flavour}} ALIAS ${whole})
  set_target_properties(${whole} PROPERTIES EXPORT_NAME ${PENSTOCK_WHOLE_${flavour}})
  list(APPEND installed ${whole})

  set(PENSTOCK_PC_NAME ${PENSTOCK_PC_${flavour}})
  list(TRANSFORM PENSTOCK_DEFINITIONS_${flavour} PREPEND -D OUTPUT_VARIABLE PENSTOCK_PC_CFLAGS)
  list(JOIN PENSTOCK_PC_CFLAGS " " PENSTOCK_PC_CFLAGS)
  set(PENSTOCK_PC_LIBS "")
  foreach(layer IN LISTS layers)
    set(library penstock_${layer})
    if(TARGET ${library}${suffix})
      set(library ${library}${suffix})
    elseif(NOT TARGET ${library})
      continue()
    endif()
    target_link_libraries(${whole} INTERFACE ${library})
    list(APPEND installed ${library})
    # Layers are declared from the bottom up; a linker wants them from the top down.
    set(PENSTOCK_PC_LIBS "-l${library} ${PENSTOCK_PC_LIBS}")
  endforeach()
  configure_file(cmake/penstock.pc.in ${PROJECT_BINARY_DIR}/${PENSTOCK_PC_NAME}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${PENSTOCK_PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
list(REMOVE_DUPLICATES installed)
install(TARGETS ${installed} EXPORT penstock)

# What the programs of jobs are made of besides, which only the component `jobs` of the package names.
if(PENSTOCK_TOOLS)
  set(installed "")
  foreach(layer IN LISTS PENSTOCK_JOB_LAYERS)
    foreach(suffix "" _legacy)
      if(TARGET penstock_${layer}${suffix})
        list(APPEND installed penstock_${layer}${suffix})
      endif()
    endforeach()
  endforeach()
  install(TARGETS ${installed} EXPORT penstockJobs)
  install(EXPORT penstockJobs NAMESPACE penstock:: FILE penstockJobsTargets.cmake DESTINATION ${PENSTOCK_PACKAGE_DIR})
  install(FILES cmake/PenstockJob.cmake DESTINATION ${PENSTOCK_PACKAGE_DIR})
endif()

# What programs include. These headers include no others of penstock's, and no others are installed.
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/penstock/*.hpp)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/penstock)
# For ./dev docs.
list(JOIN headers "\n" headers)
file(WRITE ${PROJECT_BINARY_DIR}/installed_headers.txt "${headers}\n")

install(EXPORT penstock NAMESPACE penstock:: FILE penstockTargets.cmake DESTINATION ${PENSTOCK_PACKAGE_DIR})
configure_package_config_file(cmake/penstockConfig.cmake.in ${PROJECT_BINARY_DIR}/penstockConfig.cmake
  INSTALL_DESTINATION ${PENSTOCK_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/penstockConfig.cmake ${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake
  cmake/FindHwloc.cmake DESTINATION ${PENSTOCK_PACKAGE_DIR})

install(FILES README.md LICENSE CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.cpp PATTERN *.cu PATTERN *.hpp)
install(FILES tests/support/tsan.supp DESTINATION ${CMAKE_INSTALL_DATADIR}/penstock)
