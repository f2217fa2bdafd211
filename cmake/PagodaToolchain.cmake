# Language, warnings, sanitizers and compiler cache, for everything in this project.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_FLAGS_RELEASE "-O2")

# Also in Debug: without it a callback that reads the inputs of an operator asserts a flag that LibTorch's own
# build, which has NDEBUG, never sets. Pagoda's headers have nothing of that, so its users may go without.
add_compile_definitions(NDEBUG)
add_compile_options(-Wall -Wextra -Wno-unknown-pragmas)
# A precompiled header serves only sources with the same flags, so programs get the library's -fPIC too;
# -fpch-preprocess lets ccache work with it.
add_compile_options(-fPIC $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
# GCC collects its garbage a tenth of the time; with LibTorch's headers there is little to collect.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)

if(PAGODA_SANITIZE)
  add_compile_options(-fsanitize=${PAGODA_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PAGODA_SANITIZE})
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # false alarms in LibTorch's headers
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${CCACHE})
endif()

# The sources of a folder as one unit: LibTorch's headers cost more than they do. Those that take no
# precompiled header stay alone, and so does every file with PAGODA_UNITY off.
function(pagoda_unity_by_folder target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${PAGODA_UNITY} UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_source_file_property(alone ${source} SKIP_PRECOMPILE_HEADERS)
    if(NOT alone)
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(GET folder FILENAME name)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name})
    endif()
  endforeach()
endfunction()

# Sources with plain loops over numbers: optimised harder, and without LibTorch's headers.
function(pagoda_plain_loops)
  set_source_files_properties(${ARGN} PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON
    COMPILE_OPTIONS "-O3;-fno-math-errno;-fno-trapping-math;-ffp-contract=off")
endfunction()

# Sources that need none of LibTorch compile in a second without its precompiled header.
function(pagoda_without_torch)
  file(GLOB sources CONFIGURE_DEPENDS ${ARGN})
  set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
