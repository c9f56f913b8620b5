# Man pages, completions and the reference of the C interface, written from the command's help and from the headers. They need
# Python; without it gram is built and installed without them. A command with sanitizers has the same help: once is enough.
find_program(gram_reference_python NAMES python3 HINTS /usr/bin)
if(NOT TARGET gram_command OR GRAM_SANITIZE OR NOT gram_reference_python)
    return()
endif()

set(reference ${PROJECT_BINARY_DIR}/reference)
file(GLOB reference_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scripts/reference/*
    ${PROJECT_SOURCE_DIR}/include/gram/*.h)
add_custom_command(OUTPUT ${reference}/done
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${reference}
    COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=$<TARGET_FILE_DIR:gram_shared> # packages are built without a search path
        ${gram_reference_python} ${PROJECT_SOURCE_DIR}/scripts/reference/write $<TARGET_FILE:gram_command> ${reference}
    COMMAND ${CMAKE_COMMAND} -E touch ${reference}/done
    DEPENDS gram_command ${reference_sources} COMMENT "man pages, completions, docs/api.md" VERBATIM)
add_custom_target(gram_reference ALL DEPENDS ${reference}/done)

install(DIRECTORY ${reference}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${reference}/completions/bash/gram DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${reference}/completions/zsh/_gram DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${reference}/completions/fish/gram.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${reference}/api.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gram)
