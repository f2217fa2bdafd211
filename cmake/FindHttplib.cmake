# cpp-httplib, for `pagoda serve`: target Httplib::httplib. Debian compiles it as a library with TLS and compression; a class
# of its header has other members without these macros, so whoever includes it must define the same.
find_path(Httplib_INCLUDE_DIR httplib.h)
find_library(Httplib_LIBRARY cpp-httplib)
find_path(Httplib_OPENSSL_INCLUDE_DIR openssl/ssl.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Httplib
  REQUIRED_VARS Httplib_LIBRARY Httplib_INCLUDE_DIR Httplib_OPENSSL_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install it with: apt-get install libcpp-httplib-dev")
if(Httplib_FOUND AND NOT TARGET Httplib::httplib)
  add_library(Httplib::httplib UNKNOWN IMPORTED)
  set_target_properties(Httplib::httplib PROPERTIES
    IMPORTED_LOCATION ${Httplib_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES "${Httplib_INCLUDE_DIR};${Httplib_OPENSSL_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS
      "CPPHTTPLIB_OPENSSL_SUPPORT;CPPHTTPLIB_ZLIB_SUPPORT;CPPHTTPLIB_BROTLI_SUPPORT")
endif()
