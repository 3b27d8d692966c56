# Dear ImGui 1.92.9b (docking branch), the same bytes whatever they come from: IMGUI_DIR, build/deps (see
# get-viewer-sources.sh), else fetched. nanlens_imgui is the core with the OpenGL 3 renderer.

set(IMGUI_DIR "" CACHE PATH "Dear ImGui source tree (the directory with imgui.cpp)")
set(imgui_dir "${IMGUI_DIR}")
if(NOT imgui_dir AND EXISTS ${PROJECT_SOURCE_DIR}/build/deps/imgui/imgui.cpp)
  set(imgui_dir ${PROJECT_SOURCE_DIR}/build/deps/imgui)
endif()
if(NOT imgui_dir)
  include(FetchContent)
  FetchContent_Declare(imgui GIT_REPOSITORY https://github.com/ocornut/imgui.git
                             GIT_TAG b48d1afbe8ee8b238e2961dc363a949dd7304e23) # v1.92.9b-docking
  FetchContent_MakeAvailable(imgui)
  set(imgui_dir ${imgui_SOURCE_DIR})
endif()
function(nanlens_check_sha256 file expected)
  file(SHA256 ${file} found)
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${file} is not of Dear ImGui 1.92.9b-docking (SHA256 ${found}); set IMGUI_DIR to that version")
  endif()
endfunction()
nanlens_check_sha256(${imgui_dir}/imgui.cpp 304fe9be60830936a6ca1472b1a09e2af62ebff7c9a80bbcd029ff5982b26a6e)
nanlens_check_sha256(${imgui_dir}/imgui.h ed9911193dcbe641830ad1052e3f69e87182f876b1133484e69b082506da9a9c)

add_library(nanlens_imgui STATIC ${imgui_dir}/imgui.cpp ${imgui_dir}/imgui_draw.cpp ${imgui_dir}/imgui_tables.cpp
                                 ${imgui_dir}/imgui_widgets.cpp ${imgui_dir}/backends/imgui_impl_opengl3.cpp)
target_include_directories(nanlens_imgui SYSTEM PUBLIC ${imgui_dir} ${imgui_dir}/backends)
target_compile_features(nanlens_imgui PUBLIC cxx_std_20)
set_target_properties(nanlens_imgui PROPERTIES UNITY_BUILD OFF)  # few large files
target_compile_definitions(nanlens_imgui PUBLIC IMGUI_DISABLE_OBSOLETE_FUNCTIONS IMGUI_DISABLE_DEMO_WINDOWS)
if(EMSCRIPTEN)  # drawing is not what the page waits for: size counts
  target_compile_options(nanlens_imgui PRIVATE -Oz)
  target_compile_definitions(nanlens_imgui PUBLIC IMGUI_DISABLE_DEBUG_TOOLS)
endif()
