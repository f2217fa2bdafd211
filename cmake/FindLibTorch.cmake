# LibTorch as target LibTorch::libtorch, with its folder in LibTorch_ROOT.
#
# The caller's own is taken first: CMAKE_PREFIX_PATH or Torch_DIR, given to CMake or in the environment.
# Otherwise it is the torch package that tools/setup has put into .venv.
#
# The libraries are linked directly rather than through LibTorch's own CMake package, because that one,
# in a CUDA build, insists on a matching CUDA toolkit. Pagoda needs none, nor does a machine without a GPU.

if(TARGET LibTorch::libtorch)
  set(LibTorch_FOUND TRUE)
  return()
endif()

file(GLOB libtorch_venv ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
set(libtorch_own ${CMAKE_PREFIX_PATH})
foreach(folder ${Torch_DIR} $ENV{Torch_DIR})  # <root>/share/cmake/Torch
  list(APPEND libtorch_own ${folder}/../../..)
endforeach()
string(REPLACE ":" ";" libtorch_environment "$ENV{CMAKE_PREFIX_PATH}")
list(APPEND libtorch_own ${libtorch_environment})
list(TRANSFORM libtorch_own REPLACE "/share/cmake/?$" "")  # what torch.utils.cmake_prefix_path prints
find_path(LibTorch_ROOT lib/libtorch.so HINTS ${libtorch_own} ${libtorch_venv} NO_DEFAULT_PATH
  DOC "Folder of LibTorch")

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS LibTorch_ROOT REASON_FAILURE_MESSAGE
  "run tools/setup, which installs it into .venv, or name your own with -DCMAKE_PREFIX_PATH=/path/to/libtorch")
if(NOT LibTorch_FOUND)
  return()
endif()

set(libraries torch torch_cpu c10)
if(EXISTS ${LibTorch_ROOT}/lib/libtorch_cuda.so)
  list(APPEND libraries torch_cuda c10_cuda)
endif()
list(TRANSFORM libraries REPLACE "(.+)" "${LibTorch_ROOT}/lib/lib\\1.so")
add_library(LibTorch::libtorch INTERFACE IMPORTED)
target_include_directories(LibTorch::libtorch SYSTEM INTERFACE
  ${LibTorch_ROOT}/include ${LibTorch_ROOT}/include/torch/csrc/api/include)
# Nothing refers to the CUDA libraries by name: they register themselves when loaded. What they need in turn
# they find themselves, at run time.
target_link_libraries(LibTorch::libtorch INTERFACE
  -Wl,--no-as-needed ${libraries} -Wl,--as-needed -Wl,--allow-shlib-undefined)
