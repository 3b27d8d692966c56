# What only developers of nanlens get: warnings as errors, sanitizers, a default build type.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# With -DCMAKE_UNITY_BUILD=ON, as in the presets that nobody edits in, files are compiled thirty at a time: what they include is
# read once. So no two files of a library or program may define the same name, in anonymous namespaces neither.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 30)

set(NANLENS_SANITIZE "" CACHE STRING "Sanitizers for everything that is built here, e.g. address,undefined or thread")
add_library(nanlens_developer INTERFACE)
target_compile_options(nanlens_developer INTERFACE -Wall -Wextra -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # At -O3 GCC 12 sees overlapping copies in std::string's own insert and operator+ (its bug 105651, mended in 13).
  target_compile_options(nanlens_developer INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Its garbage collector waits for half a gigabyte: 5 % of the time that compiling takes.
  target_compile_options(nanlens_developer INTERFACE --param=ggc-min-heapsize=500000)
endif()
if(NANLENS_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  add_compile_options(-g1)  # lines and inlined calls, which is what stacks need; compiles 30 % faster
endif()
if(NANLENS_SANITIZE)
  target_compile_options(nanlens_developer INTERFACE -fsanitize=${NANLENS_SANITIZE} -fno-sanitize-recover=all
                                                     -fno-omit-frame-pointer)
  target_link_options(nanlens_developer INTERFACE -fsanitize=${NANLENS_SANITIZE})
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld NANLENS_LLD_LINKS)
  if(NANLENS_LLD_LINKS)
    target_link_options(nanlens_developer INTERFACE -fuse-ld=lld)  # these programs are large: a quarter of the time
  endif()
  if(NANLENS_SANITIZE MATCHES "address,undefined")
    # Wild pointers are caught where they are used, by the address sanitizer; these look for them once more, in a quarter of
    # the time that compiling takes.
    target_compile_options(nanlens_developer INTERFACE -fno-sanitize=null,object-size,pointer-overflow,vptr)
  endif()
endif()
if(NANLENS_BUILD_FUZZERS)
  # The libraries tell the fuzzers where they have been. What only drives them (NANLENS_NO_COVERAGE) need not: that is a fifth
  # of the time that compiling it takes.
  option(NANLENS_TRACE_COMPARISONS "Fuzzers are guided by what the libraries compare, too; compiling takes a sixth longer" OFF)
  if(NANLENS_TRACE_COMPARISONS)
    set(coverage -fsanitize=fuzzer-no-link)
  else()
    set(coverage -fsanitize-coverage=inline-8bit-counters$<COMMA>pc-table)
  endif()
  target_compile_options(nanlens_developer INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:NANLENS_NO_COVERAGE>>>:${coverage}>)
endif()

# nanlens_link_first(TARGET LIBRARIES...): of inline functions that both have, a linker takes those that it meets first. These are to be
# the libraries', where those are optimised: with the tests' own, programs with sanitizers take up to twice the time.
function(nanlens_link_first target)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    return()
  endif()
  list(FILTER ARGN INCLUDE REGEX "^nanlens::compiled|^nanlens_(engine|widgets)$")
  foreach(library ${ARGN})
    target_link_options(${target} PRIVATE "LINKER:--whole-archive,$<TARGET_FILE:${library}>,--no-whole-archive")
  endforeach()
endfunction()
# What the viewer is made of, for programs that test it.
set(viewing nanlens_engine nanlens_widgets nanlens::compiled_archive nanlens::compiled_query nanlens::compiled_causes)
