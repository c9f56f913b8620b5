# The flavours of OpenBLAS on this machine: gram_flavours, and gram_flavour_NAME is the folder that selects one at load
# time through LD_LIBRARY_PATH. Empty where the system does not keep them side by side as Debian does.
set(gram_flavours "")
foreach(flavour pthread openmp)
    set(folder /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-${flavour})
    if(EXISTS ${folder}/libopenblas.so.0)
        list(APPEND gram_flavours ${flavour})
        set(gram_flavour_${flavour} ${folder})
    endif()
endforeach()
list(LENGTH gram_flavours count)
if(count LESS 2)
    message(STATUS "Flavours of OpenBLAS found to test with: ${count} (pthread and openmp are wanted)")
endif()
