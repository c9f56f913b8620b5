# The tests of the Python package. A sanitizer's library must come first in the process, so it is loaded before the interpreter;
# leaks are not looked for, since the interpreter keeps much to the end.

set(python_environment PYTHONPATH=${PROJECT_BINARY_DIR}/python SOURCE=${PROJECT_SOURCE_DIR} PYTHONDONTWRITEBYTECODE=1)
if(GRAM_SANITIZE)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so
        OUTPUT_VARIABLE asan_library OUTPUT_STRIP_TRAILING_WHITESPACE)
    list(APPEND python_environment LD_PRELOAD=${asan_library} PYTHONMALLOC=malloc
        ASAN_OPTIONS=detect_leaks=0:strict_string_checks=1:quarantine_size_mb=1:thread_local_quarantine_size_kb=64)
endif()

# gram_add_python_test(NAME FILE LABELS ENVIRONMENT...)
function(gram_add_python_test name file labels)
    gram_add_test(${name} COMMAND sh ${house}/in_empty_folder ${CMAKE_CURRENT_SOURCE_DIR}/python/run.sh
        LABELS ${labels}
        ENVIRONMENT ${python_environment} PYTHON=${gram_python_executable} TEST=${file} ${ARGN})
endfunction()

# Under the sanitizers what takes arrays apart is run, and what no caller should do; not what looks at the clock, nor what the library's own
# tests do as well.
file(GLOB python_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/python/test_*.py)
foreach(file ${python_tests})
    get_filename_component(name ${file} NAME_WE)
    string(REPLACE test_ python_ name ${name})
    if(NOT GRAM_SANITIZE OR name MATCHES "kernels|samples")
        gram_add_python_test(${name} ${file} python)
    elseif(name MATCHES "manners")
        gram_add_python_test(${name} ${file} python "CASES=Hostile Sharing")
    endif()
endforeach()

# The library with two methods more in the place of libgram: what is told to look for libgram.so finds this one first.
set(dummy_folder ${CMAKE_CURRENT_BINARY_DIR}/dummy_library)
add_library(gram_dummy_shared SHARED "$<FILTER:$<TARGET_OBJECTS:gram_objects>,EXCLUDE,/method_table\\.c\\.o$>"
    dummy/nearest_method.c dummy/paired_method.c ${PROJECT_SOURCE_DIR}/src/learn/method_table.c)
target_compile_definitions(gram_dummy_shared PRIVATE GRAM_EXTRA_METHODS)
target_link_libraries(gram_dummy_shared PRIVATE gram_flags gram_dependencies)
target_link_options(gram_dummy_shared PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
set_target_properties(gram_dummy_shared PROPERTIES OUTPUT_NAME gram LINKER_LANGUAGE C C_VISIBILITY_PRESET hidden
    SOVERSION ${gram_soversion} LIBRARY_OUTPUT_DIRECTORY ${dummy_folder})
gram_add_python_test(python_dummy ${CMAKE_CURRENT_SOURCE_DIR}/dummy/test_dummy.py python LD_LIBRARY_PATH=${dummy_folder})

# Every estimator with the settings that it has by default.
gram_add_python_test(long_python_estimators ${CMAKE_CURRENT_SOURCE_DIR}/python/test_estimators.py long GRAM_LONG=1)
