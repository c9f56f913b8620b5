# A locale whose decimal separator is a comma, made in the build folder: a machine need not have one installed.
# gram_comma_environment selects it for every program that calls setlocale(LC_ALL, "").
set(gram_comma_locale de_DE.UTF-8)
set(gram_comma_folder ${PROJECT_BINARY_DIR}/locale)
set(gram_comma_environment LOCPATH=${gram_comma_folder} LC_ALL=${gram_comma_locale})

if(NOT EXISTS ${gram_comma_folder}/${gram_comma_locale}/LC_NUMERIC)
    find_program(LOCALEDEF localedef)
    file(MAKE_DIRECTORY ${gram_comma_folder})
    if(LOCALEDEF)
        execute_process(COMMAND ${LOCALEDEF} -i de_DE -f UTF-8 ${gram_comma_folder}/${gram_comma_locale}
            OUTPUT_QUIET ERROR_QUIET)
    endif()
endif()

if(NOT EXISTS ${gram_comma_folder}/${gram_comma_locale}/LC_NUMERIC)
    if(GRAM_TESTS STREQUAL "AUTO")
        message(STATUS "No comma locale (localedef and Debian's package `locales` make one): its tests are left out")
        unset(gram_comma_locale)
    else()
        message(FATAL_ERROR "The tests need a comma locale: localedef and the sources of de_DE (package `locales`)")
    endif()
endif()
