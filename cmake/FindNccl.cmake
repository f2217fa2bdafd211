# NCCL and the headers of CUDA's runtime as target Nccl::nccl, for a CUDA build of LibTorch.
#
# They are looked for beside LibTorch, where its packages put them (nvidia/nccl, nvidia/cu13), and in the
# usual places of a CUDA toolkit. Without LibTorch's CUDA library there is nothing to look for.

if(NOT EXISTS ${LibTorch_ROOT}/lib/libtorch_cuda.so)
  set(Nccl_FOUND FALSE)
  return()
endif()
set(nccl_beside ${LibTorch_ROOT}/../nvidia)
find_path(Nccl_INCLUDE_DIR nccl.h HINTS ${nccl_beside}/nccl/include)
find_library(Nccl_LIBRARY NAMES nccl libnccl.so.2 HINTS ${nccl_beside}/nccl/lib)
find_path(Nccl_CUDA_INCLUDE_DIR cuda_runtime_api.h
  HINTS ${nccl_beside}/cu13/include ${nccl_beside}/cuda_runtime/include /usr/local/cuda/include)
# nccl.h includes it by way of cuda_runtime.h, and pip's torch does not bring it (package nvidia-cuda-crt).
find_path(Nccl_CRT_INCLUDE_DIR crt/host_config.h HINTS ${Nccl_CUDA_INCLUDE_DIR})
find_library(Nccl_CUDA_LIBRARY NAMES cudart libcudart.so.13 libcudart.so.12
  HINTS ${nccl_beside}/cu13/lib ${nccl_beside}/cuda_runtime/lib /usr/local/cuda/lib64)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Nccl
  REQUIRED_VARS Nccl_LIBRARY Nccl_INCLUDE_DIR Nccl_CUDA_INCLUDE_DIR Nccl_CRT_INCLUDE_DIR
  Nccl_CUDA_LIBRARY)
if(Nccl_FOUND AND NOT TARGET Nccl::nccl)
  add_library(Nccl::nccl INTERFACE IMPORTED)
  target_include_directories(Nccl::nccl SYSTEM INTERFACE ${Nccl_INCLUDE_DIR} ${Nccl_CUDA_INCLUDE_DIR}
    ${Nccl_CRT_INCLUDE_DIR})
  target_link_libraries(Nccl::nccl INTERFACE ${Nccl_LIBRARY} ${Nccl_CUDA_LIBRARY})
endif()
