# One INTERFACE target per module, each with exactly the dependencies it needs. nanlens::nanlens is what a host links.

include(CheckCXXSourceCompiles)
find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)

function(nanlens_module name)
  add_library(nanlens_${name} INTERFACE)
  add_library(nanlens::${name} ALIAS nanlens_${name})
  set_target_properties(nanlens_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(nanlens_${name} INTERFACE cxx_std_20)
  target_include_directories(nanlens_${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_link_libraries(nanlens_${name} INTERFACE ${ARGN})
endfunction()

nanlens_module(tensor)
nanlens_module(summary nanlens_tensor)
nanlens_module(logdir nanlens_summary)
nanlens_module(capture nanlens_logdir Threads::Threads)
nanlens_module(reader nanlens_logdir)
nanlens_module(causes nanlens_reader)
nanlens_module(query nanlens_causes)
nanlens_module(nanlens nanlens_capture)
set(NANLENS_MODULES tensor summary logdir capture reader causes query nanlens)

# libbacktrace gives file, line and inlined functions for stack frames. GCC ships it; clang finds it in GCC's directory.
set(CMAKE_REQUIRED_LIBRARIES backtrace)
check_cxx_source_compiles("
#include <backtrace.h>
int main() { return backtrace_create_state(nullptr, 0, nullptr, nullptr) == nullptr; }
" NANLENS_LIBBACKTRACE_LINKS)
unset(CMAKE_REQUIRED_LIBRARIES)
set(NANLENS_BACKTRACE_INCLUDE "")
set(NANLENS_BACKTRACE_LIBRARY "")
if(NANLENS_LIBBACKTRACE_LINKS)
  set(NANLENS_BACKTRACE_LIBRARY backtrace)
else()
  file(GLOB gcc_directories /usr/lib/gcc/*/*)
  find_path(NANLENS_BACKTRACE_H backtrace.h PATHS ${gcc_directories} PATH_SUFFIXES include)
  find_library(NANLENS_BACKTRACE_A backtrace PATHS ${gcc_directories})
  if(NANLENS_BACKTRACE_H AND NANLENS_BACKTRACE_A)
    # Only this header is wanted: GCC's include directory as a whole would hide the other compiler's intrinsics.
    file(COPY ${NANLENS_BACKTRACE_H}/backtrace.h DESTINATION ${PROJECT_BINARY_DIR}/backtrace)
    set(NANLENS_BACKTRACE_INCLUDE ${PROJECT_BINARY_DIR}/backtrace)
    set(NANLENS_BACKTRACE_LIBRARY ${NANLENS_BACKTRACE_A})
  endif()
endif()
if(NANLENS_BACKTRACE_LIBRARY)
  target_compile_definitions(nanlens_capture INTERFACE $<BUILD_INTERFACE:NANLENS_HAVE_LIBBACKTRACE>)
  target_include_directories(nanlens_capture SYSTEM INTERFACE $<BUILD_INTERFACE:${NANLENS_BACKTRACE_INCLUDE}>)
  target_link_libraries(nanlens_capture INTERFACE $<BUILD_INTERFACE:${NANLENS_BACKTRACE_LIBRARY}>)
endif()

include(NanlensCompiled)

# zstd: sources by ZSTD_DIR or from build/deps where there is no system to ask (the page), else the system's library.
set(ZSTD_DIR "" CACHE PATH "zstd source tree (the directory with zstd.h and decompress/)")
if(EMSCRIPTEN OR ZSTD_DIR)
  include(NanlensZstd)
  set(zstd_target nanlens_zstd)
elseif(PkgConfig_FOUND)
  pkg_check_modules(ZSTD QUIET IMPORTED_TARGET libzstd)
  set(zstd_target PkgConfig::ZSTD)
endif()
if(zstd_target AND TARGET ${zstd_target})
  nanlens_module(archive nanlens_reader ${zstd_target})
  nanlens_compiled(compiled_archive "archive")
  target_link_libraries(nanlens_compiled_archive PUBLIC nanlens_compiled_causes)
  list(APPEND NANLENS_MODULES archive)
endif()

find_package(Eigen3 QUIET NO_MODULE)  # asked for 3.4, Eigen 5 says that it is another
if(TARGET Eigen3::Eigen AND Eigen3_VERSION VERSION_GREATER_EQUAL 3.4)
  nanlens_module(hosts_eigen nanlens_capture Eigen3::Eigen)
  list(APPEND NANLENS_MODULES hosts_eigen)
endif()

# PyTorch is the program's to find and to link. NDEBUG: as its libraries are compiled, see the header.
nanlens_module(hosts_torch nanlens_capture)
target_compile_definitions(nanlens_hosts_torch INTERFACE NDEBUG)
list(APPEND NANLENS_MODULES hosts_torch)

# So is ggml.
nanlens_module(hosts_ggml nanlens_capture)
list(APPEND NANLENS_MODULES hosts_ggml)
