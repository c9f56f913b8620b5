# What gram stands on. OpenBLAS is linked by name, not by path: the flavour is chosen when the program is loaded. It is
# always linked: the guard's weak symbols alone would not make the linker keep it.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(OPENBLAS REQUIRED openblas)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)

# Tables of SQLite's databases are read where its library was there.
set(gram_sqlite OFF)
if(GRAM_SQLITE)
    pkg_check_modules(SQLITE QUIET IMPORTED_TARGET sqlite3)
    set(gram_sqlite ${SQLITE_FOUND})
endif()

find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)

add_library(gram_dependencies INTERFACE)
target_include_directories(gram_dependencies SYSTEM INTERFACE ${OPENBLAS_INCLUDE_DIRS} ${RANDOM123_INCLUDE_DIR})
target_link_directories(gram_dependencies INTERFACE ${OPENBLAS_LIBRARY_DIRS})
target_link_libraries(gram_dependencies INTERFACE
    -Wl,--push-state,--no-as-needed,-lopenblas,--pop-state PkgConfig::JANSSON PkgConfig::ZLIB
    Threads::Threads ${CMAKE_DL_LIBS} m)
set(gram_private_libraries "-lopenblas -ljansson -lz -lpthread -lm")
if(gram_sqlite)
    target_link_libraries(gram_dependencies INTERFACE PkgConfig::SQLITE)
    set_source_files_properties(src/data/sqlite/query_rows.c PROPERTIES COMPILE_DEFINITIONS GRAM_HAVE_SQLITE)
    string(APPEND gram_private_libraries " -lsqlite3")
endif()

set(gram_tests OFF)
if(GRAM_TESTS STREQUAL "AUTO")
    pkg_check_modules(CMOCKA QUIET cmocka)
    set(gram_tests ${CMOCKA_FOUND})
elseif(GRAM_TESTS)
    pkg_check_modules(CMOCKA REQUIRED cmocka)
    set(gram_tests ON)
endif()
