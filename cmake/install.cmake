# What `make install` puts where: the command, both libraries, the headers, the documents that they point to, gram.pc and
# the CMake package. Nothing in it holds an absolute path, so the tree can be moved.
include(CMakePackageConfigHelpers)

install(TARGETS gram_shared EXPORT gram_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS gram_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET gram_command)
    install(TARGETS gram_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY include/gram DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gram
    FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png" PATTERN "schema/*.json")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/gram)

set(gram_pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH gram_prefix_from_pkgconfig
    ${CMAKE_INSTALL_PREFIX}/${gram_pkgconfig_dir} ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/gram.pc.in gram.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/gram.pc DESTINATION ${gram_pkgconfig_dir})

set(gram_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gram)
install(EXPORT gram_targets FILE gramTargets.cmake NAMESPACE gram:: DESTINATION ${gram_cmake_dir})
configure_package_config_file(cmake/gramConfig.cmake.in gramConfig.cmake INSTALL_DESTINATION ${gram_cmake_dir})
write_basic_package_version_file(gramConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gramConfig.cmake ${PROJECT_BINARY_DIR}/gramConfigVersion.cmake
    DESTINATION ${gram_cmake_dir})
