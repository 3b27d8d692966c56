# nanlens::compiled, for projects with many translation units: headers that only declare, and one library with what they
# declare. Built if something links it, in the project that does: by its compiler and with its flags.
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/nanlens_compiled.cpp
  CONTENT "#include <nanlens/capture/implementation.hpp>\n")
add_library(nanlens_compiled STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/nanlens_compiled.cpp)
add_library(nanlens::compiled ALIAS nanlens_compiled)
target_compile_definitions(nanlens_compiled PUBLIC NANLENS_SPLIT)
target_link_libraries(nanlens_compiled PUBLIC nanlens::nanlens)
