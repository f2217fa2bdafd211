# `cmake --install` gives the program, the library, its headers and a package for find_package(Pagoda).
include(CMakePackageConfigHelpers)
set(pagoda_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Pagoda)

install(TARGETS pagoda EXPORT PagodaTargets)
install(TARGETS pagoda_program)
install(PROGRAMS ${SentencePiece_PRIVATE} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(PROGRAMS tools/get_cifar10 DESTINATION ${CMAKE_INSTALL_DATADIR}/pagoda)
install(FILES tools/cifar10_sources.py tools/cifar10_records.py DESTINATION ${CMAKE_INSTALL_DATADIR}/pagoda)
if(CppJieba_FOUND)
  install(FILES ${CppJieba_DICTIONARIES}/jieba.dict.utf8 ${CppJieba_DICTIONARIES}/hmm_model.utf8
    DESTINATION ${CMAKE_INSTALL_DATADIR}/pagoda/jieba)
endif()
# Below SKBUILD_DATA_DIR a wheel's files land in the environment itself, where man and shells look.
if(SKBUILD)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share DESTINATION ${SKBUILD_DATA_DIR})
elseif(NOT PAGODA_SANITIZE)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR})
endif()
install(DIRECTORY include/pagoda DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT PagodaTargets NAMESPACE Pagoda:: DESTINATION ${pagoda_package_dir})

list(TRANSFORM SentencePiece_PRIVATE REPLACE ".*/" "" OUTPUT_VARIABLE pagoda_pieces)
configure_package_config_file(cmake/PagodaConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/PagodaConfig.cmake
  INSTALL_DESTINATION ${pagoda_package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/PagodaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/PagodaConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/PagodaConfigVersion.cmake
  cmake/FindHwloc.cmake cmake/FindLibTorch.cmake cmake/FindNccl.cmake
  DESTINATION ${pagoda_package_dir})

# A wheel brings the libraries that a machine may lack, all but the C and C++ libraries and torch's. Of these some need
# others: DT_RPATH, unlike DT_RUNPATH, holds for them too.
if(SKBUILD)
  target_link_options(pagoda_program PRIVATE -Wl,--disable-new-dtags)
  install(CODE [[
    file(GET_RUNTIME_DEPENDENCIES EXECUTABLES "${CMAKE_INSTALL_PREFIX}/bin/pagoda"
      RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR unresolved
      PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|stdc[+][+]|gcc_s)[.]so" "^lib(torch|c10|gomp|pagoda)")
    if(unresolved)
      message(FATAL_ERROR "the wheel lacks libraries: ${unresolved}")
    endif()
    # Apart from the library's own folder, where a program that links with it would find them before the system's.
    file(MAKE_DIRECTORY "${CMAKE_INSTALL_PREFIX}/lib/private")
    foreach(library ${libraries})
      cmake_path(GET library FILENAME name)
      file(COPY_FILE ${library} "${CMAKE_INSTALL_PREFIX}/lib/private/${name}")  # wheels have no links
    endforeach()
  ]])
endif()
