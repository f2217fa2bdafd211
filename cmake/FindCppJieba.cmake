# cppjieba, which finds words in Chinese text: headers only, with limonp's and its dictionaries.
#   CppJieba_FOUND, CppJieba_INCLUDE_DIR, CppJieba_LIMONP_DIR, CppJieba_DICTIONARIES
# tools/setup fetches it; a copy elsewhere is found with -DCppJieba_ROOT=/path/to/cppjieba.
set(cppjieba_fetched ${PROJECT_SOURCE_DIR}/.downloads/cppjieba)
find_path(CppJieba_INCLUDE_DIR cppjieba/MixSegment.hpp HINTS ${cppjieba_fetched}/include)
find_path(CppJieba_LIMONP_DIR limonp/StringUtil.hpp
  HINTS ${CppJieba_INCLUDE_DIR}/../deps/limonp/include ${CppJieba_INCLUDE_DIR})
find_path(CppJieba_DICTIONARIES jieba.dict.utf8 HINTS ${CppJieba_INCLUDE_DIR}/../dict NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CppJieba
  REQUIRED_VARS CppJieba_INCLUDE_DIR CppJieba_LIMONP_DIR CppJieba_DICTIONARIES
  REASON_FAILURE_MESSAGE "the jieba tokenizer is left out, but tools/setup fetches it")

# Compiles a source of the calling directory with it.
function(pagoda_use_jieba source)
  set_source_files_properties(${source} PROPERTIES
    INCLUDE_DIRECTORIES "${CppJieba_INCLUDE_DIR};${CppJieba_LIMONP_DIR}"
    COMPILE_DEFINITIONS PAGODA_JIEBA_DICTIONARIES="${CppJieba_DICTIONARIES}"
    COMPILE_OPTIONS -w)  # its headers are not clean
endfunction()
