# The command among the ranks of MPI (docs/cluster.md): another program with the same libgram, which knows nothing of MPI and is
# that of the build without it.
set(GRAM_LIBRARY ${PROJECT_SOURCE_DIR}/build/release/${CMAKE_INSTALL_LIBDIR}/libgram.so CACHE FILEPATH "libgram of a build without MPI")
find_package(MPI REQUIRED COMPONENTS C)
find_library(GRAM_SCALAPACK NAMES scalapack-openmpi scalapack-mpich scalapack REQUIRED)

add_library(gram_shared SHARED IMPORTED)
set_target_properties(gram_shared PROPERTIES IMPORTED_LOCATION ${GRAM_LIBRARY})

file(GLOB cluster_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cluster/*.c)
list(FILTER command_sources EXCLUDE REGEX "/ranks_alone\\.c$")
add_executable(gram_command ${command_sources} ${cluster_sources})
set_target_properties(gram_command PROPERTIES OUTPUT_NAME gram INSTALL_RPATH "${gram_command_rpath}")
target_link_libraries(gram_command PRIVATE gram_flags gram_shared ${GRAM_SCALAPACK} MPI::MPI_C m)
# MPI's functions that the command counts by are seen by ScaLAPACK too.
set_target_properties(gram_command PROPERTIES ENABLE_EXPORTS ON)

# The library lies next to the command, as in any build, so that the folder can be moved to other machines as it is.
set(gram_soname libgram.so.${gram_soversion})
add_custom_command(TARGET gram_command POST_BUILD COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}
    COMMAND cp -L ${GRAM_LIBRARY} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${gram_soname})
set_target_properties(gram_command PROPERTIES LINK_DEPENDS ${GRAM_LIBRARY})

install(TARGETS gram_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${gram_soname} DESTINATION ${CMAKE_INSTALL_LIBDIR})
