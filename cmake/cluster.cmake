# The command among the ranks of MPI (docs/cluster.md). libgram is the same as in any other build: it knows nothing of MPI.
find_package(MPI REQUIRED COMPONENTS C)
find_library(GRAM_SCALAPACK NAMES scalapack-openmpi scalapack-mpich scalapack REQUIRED)

file(GLOB cluster_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cluster/*.c)
target_sources(gram_command PRIVATE ${cluster_sources})
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/cli/terminal/ranks_alone.c PROPERTIES HEADER_FILE_ONLY ON)
target_link_libraries(gram_command PRIVATE ${GRAM_SCALAPACK} MPI::MPI_C)
# MPI's functions that the command counts by are seen by ScaLAPACK too.
set_target_properties(gram_command PROPERTIES ENABLE_EXPORTS ON)
