# What a build can choose, and the flags that every file gets.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or Sanitize" FORCE)
endif()

set(GRAM_TESTS AUTO CACHE STRING "build the tests: ON, OFF, or AUTO (when cmocka is there)")
set(GRAM_SANITIZE "" CACHE STRING "sanitizers, e.g. address,undefined")
option(GRAM_SQLITE "read tables of SQLite databases, where its library is" ON)
option(GRAM_WERROR "warnings are errors" OFF)
option(GRAM_MPI "the command works among the ranks of MPI, with ScaLAPACK (`make cluster`)" OFF)
option(GRAM_FUZZER "build the fuzz targets with libFuzzer instead of the tests (clang)" OFF)

set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g")
set(CMAKE_C_FLAGS_SANITIZE "-O2 -g -fno-omit-frame-pointer")

# Products and libraries lie in the build folder as they will lie in the prefix, so one relative RPATH serves both, and
# no RPATH ever names a flavour of BLAS: whoever loads libopenblas.so.0 first decides.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_BINDIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
file(RELATIVE_PATH gram_library_from_command ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(gram_command_rpath "$ORIGIN/${gram_library_from_command}")

# gcc contracts a*b+c in GNU mode only, clang always: off for both, so that results do not depend on the compiler.
add_library(gram_flags INTERFACE)
target_include_directories(gram_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(gram_flags INTERFACE
    -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -fno-math-errno -ffp-contract=off
    $<$<BOOL:${GRAM_WERROR}>:-Werror>)

if(GRAM_SANITIZE)
    add_compile_options(-fsanitize=${GRAM_SANITIZE} -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${GRAM_SANITIZE} -fno-sanitize-recover=all)
endif()

# The fuzz targets tell which lines of src/data and src/model they reach (`tests/fuzz/run coverage`). What is compared in the
# loops over numbers is no hint for inputs, and to trace it took a third of the time.
function(gram_count_lines sources)
    set(counted ${${sources}})
    list(FILTER counted INCLUDE REGEX "/src/(data|model)/")
    set_property(SOURCE ${counted} APPEND PROPERTY COMPILE_OPTIONS "-fprofile-instr-generate;-fcoverage-mapping")
    set(numeric ${${sources}})
    list(FILTER numeric INCLUDE REGEX "/src/(base/vecmath|points|tile|operator|solve|function|tune|embed)/")
    set_property(SOURCE ${numeric} APPEND PROPERTY COMPILE_OPTIONS "-fno-sanitize-coverage=trace-cmp")
    add_link_options(-fprofile-instr-generate)
endfunction()

# A file NAME_avx2.c is compiled for AVX2 and FMA, NAME_avx512.c for AVX-512; the library calls it only where the processor
# has them. Elsewhere than on x86-64 they are left out.
function(gram_instruction_sets sources)
    set(list ${${sources}})
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
        set(wide ${list})
        list(FILTER wide INCLUDE REGEX "_avx2\\.c$")
        set_source_files_properties(${wide} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-ffp-contract=fast")
        set(widest ${list})
        list(FILTER widest INCLUDE REGEX "_avx512\\.c$")
        set_source_files_properties(${widest} PROPERTIES COMPILE_OPTIONS
            "-mavx512f;-mavx512dq;-mavx512bw;-mavx512vl;-mfma;-mprefer-vector-width=512;-ffp-contract=fast")
    else()
        list(FILTER list EXCLUDE REGEX "_avx(2|512)\\.c$")
    endif()
    set(${sources} ${list} PARENT_SCOPE)
endfunction()
