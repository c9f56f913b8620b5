# What gram stands on. OpenBLAS is linked by name, not by path: the flavour is chosen when the program is loaded. It is
# always linked: the guard's weak symbols alone would not make the linker keep it.

find_package(OpenMP REQUIRED COMPONENTS C)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(OPENBLAS REQUIRED openblas)

find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)

# L-BFGS-B as an archive: its shared library would bring a second BLAS into the process. It is compiled Fortran, whose
# run-time library comes with OpenBLAS; the name without a version belongs to the compiler, which need not be there.
find_library(LBFGSB_ARCHIVE NAMES liblbfgsb.a REQUIRED)
find_library(GFORTRAN_LIBRARY NAMES gfortran libgfortran.so.5 REQUIRED)

add_library(gram_dependencies INTERFACE)
target_include_directories(gram_dependencies SYSTEM INTERFACE ${OPENBLAS_INCLUDE_DIRS} ${RANDOM123_INCLUDE_DIR})
target_link_directories(gram_dependencies INTERFACE ${OPENBLAS_LIBRARY_DIRS})
target_link_libraries(gram_dependencies INTERFACE ${LBFGSB_ARCHIVE} ${GFORTRAN_LIBRARY}
    -Wl,--push-state,--no-as-needed,-lopenblas,--pop-state OpenMP::OpenMP_C Threads::Threads m)

set(gram_tests OFF)
if(GRAM_TESTS STREQUAL "AUTO")
    pkg_check_modules(CMOCKA QUIET cmocka)
    set(gram_tests ${CMOCKA_FOUND})
elseif(GRAM_TESTS)
    pkg_check_modules(CMOCKA REQUIRED cmocka)
    set(gram_tests ON)
endif()
