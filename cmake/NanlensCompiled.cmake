# For projects with many translation units: headers that only declare, and libraries with what they declare. Each is built
# if something links it, in the project that does: by its compiler and with its flags.
#   nanlens::compiled         capture
#   nanlens::compiled_causes  reader and causes
#   nanlens::compiled_query   query, with reader and causes
#   nanlens::compiled_archive archive, with reader and causes; where zstd was found
#   nanlens::c                the C interface, a shared library
function(nanlens_compiled name modules)
  list(TRANSFORM modules REPLACE "(.+)" "#include <nanlens/\\1/implementation.hpp>\n" OUTPUT_VARIABLE includes)
  list(JOIN includes "" includes)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/nanlens_${name}.cpp CONTENT "${includes}")
  add_library(nanlens_${name} STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/nanlens_${name}.cpp)
  add_library(nanlens::${name} ALIAS nanlens_${name})
  target_compile_definitions(nanlens_${name} PUBLIC NANLENS_SPLIT)
  set_target_properties(nanlens_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)  # for shared libraries, too
  list(TRANSFORM modules PREPEND nanlens::)
  target_link_libraries(nanlens_${name} PUBLIC ${modules} PRIVATE $<TARGET_NAME_IF_EXISTS:nanlens_developer>)
endfunction()
nanlens_compiled(compiled "capture")
nanlens_compiled(compiled_causes "reader;causes")
nanlens_compiled(compiled_query "query")
target_link_libraries(nanlens_compiled_query PUBLIC nanlens_compiled_causes)

# The C interface, <nanlens/c.h>: for C, for other languages, and for adapters that are loaded at run time.
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/nanlens_c.cpp CONTENT "#include <nanlens/capture/c_interface.inl>\n")
add_library(nanlens_c SHARED EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/nanlens_c.cpp)
add_library(nanlens::c ALIAS nanlens_c)
set_target_properties(nanlens_c PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                                           LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
target_link_libraries(nanlens_c PUBLIC nanlens::capture PRIVATE nanlens::compiled $<TARGET_NAME_IF_EXISTS:nanlens_developer>)
target_link_options(nanlens_c PRIVATE LINKER:--exclude-libs,ALL)  # it shows <nanlens/c.h> alone
