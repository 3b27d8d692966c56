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
# Adapters that are compiled when they are needed are linked with it.
set_target_properties(nanlens_compiled PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/nanlens)
list(APPEND NANLENS_LOADED nanlens_compiled)

# An adapter that needs no headers of its host: <nanlens/hosts/HOST/loadable.hpp> as a library, of which only the functions that
# are named are seen. The C++ library is part of it, so that it brings nothing along that a program might have in another version.
function(nanlens_loadable host)
  set(library nanlens_${host})
  set(exported "")
  if(ARGN)
    list(JOIN ARGN "; " functions)
    set(exported "global: ${functions}; ")
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${library}.cpp CONTENT "#include <nanlens/hosts/${host}/loadable.hpp>\n")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${library}.map CONTENT "{ ${exported}local: *; };\n")
  add_library(${library} MODULE ${PROJECT_BINARY_DIR}/${library}.cpp)
  set_target_properties(${library} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                                              LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/nanlens)
  target_link_libraries(${library} PRIVATE nanlens::compiled ${CMAKE_DL_LIBS} $<TARGET_NAME_IF_EXISTS:nanlens_developer>)
  target_link_options(${library} PRIVATE -static-libstdc++ -static-libgcc LINKER:--version-script=${PROJECT_BINARY_DIR}/${library}.map)
endfunction()
nanlens_loadable(ggml)
nanlens_loadable(onnx RegisterCustomOps nanlens_onnx_hook nanlens_onnx_drive)
list(APPEND NANLENS_LOADED nanlens_ggml nanlens_onnx)

# What `nanlens run --traps` loads into programs.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  nanlens_loadable(traps sigaction signal pthread_create fork sigprocmask pthread_sigmask feenableexcept fedisableexcept fesetenv
                   feupdateenv _exit _Exit abort)
  list(APPEND NANLENS_LOADED nanlens_traps)
endif()
