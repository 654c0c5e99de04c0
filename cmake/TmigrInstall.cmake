# SPDX-License-Identifier: BSL-1.0
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(tmigr_config_dir "${CMAKE_INSTALL_DATADIR}/cmake/tmigr")

# One export set per component, so that each can be found without the dependencies of the others.
foreach(component IN ITEMS core tmigr hwloc)
    if(TARGET tmigr_${component})
        install(TARGETS tmigr_${component} EXPORT tmigr-${component}
                FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT tmigr_development)
        install(EXPORT tmigr-${component} NAMESPACE tmigr:: DESTINATION "${tmigr_config_dir}"
                COMPONENT tmigr_development)
    endif()
endforeach()

# Belongs to no target: what it needs, Relacy, has no package for others to find.
install(FILES ${tmigr_relacy_headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tmigr/atomics"
        COMPONENT tmigr_development)

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/tmigr-config.cmake.in"
                              "${PROJECT_BINARY_DIR}/tmigr-config.cmake"
                              INSTALL_DESTINATION "${tmigr_config_dir}"
                              NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tmigr-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/tmigr-config.cmake" "${PROJECT_BINARY_DIR}/tmigr-config-version.cmake"
        DESTINATION "${tmigr_config_dir}" COMPONENT tmigr_development)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/tmigr" COMPONENT tmigr_development)
