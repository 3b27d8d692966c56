# lib/nanlens: what `nanlens run` loads into programs. libnanlens_preload.so, which waits for libraries that nanlens knows, is C.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NANLENS_SANITIZE)
  return()
endif()
add_library(nanlens_preload MODULE ${PROJECT_SOURCE_DIR}/viewer/run/preload.c ${PROJECT_SOURCE_DIR}/viewer/run/ggml_calls.c)
target_include_directories(nanlens_preload PRIVATE ${PROJECT_SOURCE_DIR}/include)
set_source_files_properties(${PROJECT_SOURCE_DIR}/viewer/run/ggml_calls.c PROPERTIES COMPILE_OPTIONS -g0)  # on stacks, and nobody's to look at
set_target_properties(nanlens_preload PROPERTIES C_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/nanlens)
target_link_libraries(nanlens_preload PRIVATE ${CMAKE_DL_LIBS} Threads::Threads $<TARGET_NAME_IF_EXISTS:nanlens_developer>)
list(APPEND NANLENS_LOADED nanlens_preload)

# An adapter that needs no headers of its host: <nanlens/hosts/HOST/loadable.hpp> as a library, with nothing to be seen of it.
function(nanlens_loadable host)
  set(library nanlens_${host})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${library}.cpp CONTENT "#include <nanlens/hosts/${host}/loadable.hpp>\n")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${library}.map CONTENT "{ local: *; };\n")
  add_library(${library} MODULE ${PROJECT_BINARY_DIR}/${library}.cpp)
  set_target_properties(${library} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                                              LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/nanlens)
  target_link_libraries(${library} PRIVATE nanlens::capture ${CMAKE_DL_LIBS} $<TARGET_NAME_IF_EXISTS:nanlens_developer>)
  target_link_options(${library} PRIVATE -static-libstdc++ -static-libgcc LINKER:--version-script=${PROJECT_BINARY_DIR}/${library}.map)
endfunction()
nanlens_loadable(ggml)
list(APPEND NANLENS_LOADED nanlens_ggml)

# libnanlens_traps.so, which `nanlens run --traps` loads into programs: <nanlens/hosts/traps.hpp> as an object of its
# own. The C++ library is part of it, so that it brings nothing along that a program might have in another version.
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  return()
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/nanlens_traps.cpp CONTENT "#include <nanlens/hosts/traps/loadable.hpp>\n")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/nanlens_traps.map CONTENT "{ global: \
sigaction; signal; pthread_create; fork; sigprocmask; pthread_sigmask; feenableexcept; fedisableexcept; fesetenv; feupdateenv; _exit; _Exit; abort; local: *; };\n")
add_library(nanlens_traps MODULE ${PROJECT_BINARY_DIR}/nanlens_traps.cpp)
set_target_properties(nanlens_traps PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                                               LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/nanlens)
target_link_libraries(nanlens_traps PRIVATE nanlens::capture ${CMAKE_DL_LIBS} $<TARGET_NAME_IF_EXISTS:nanlens_developer>)
target_link_options(nanlens_traps PRIVATE -static-libstdc++ -static-libgcc LINKER:--version-script=${PROJECT_BINARY_DIR}/nanlens_traps.map)
list(APPEND NANLENS_LOADED nanlens_traps)
