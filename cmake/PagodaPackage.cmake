# `make deb`: a Debian package with what `cmake --install` installs, by CPack. LibTorch is not in it: the program looks for
# it where it was when it was built, so build with one that lies at the same place on the machines it is for
# (CMAKE_PREFIX_PATH=/opt/libtorch make deb).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME pagoda)
set(CPACK_PACKAGE_VENDOR Pagoda)
set(CPACK_PACKAGE_CONTACT "Pagoda's developers <pagoda@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "trains one model, written for one device, on every device of the machine")
set(CPACK_PACKAGE_DESCRIPTION
  "A C++20 library and a command-line program for data-parallel training with\nLibTorch, which is not part of this package and must lie in\n${LibTorch_ROOT}.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# What the program links with, but for LibTorch, which no package brings.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${LibTorch_ROOT}/lib ${PROJECT_BINARY_DIR}/lib)
# What a program of the user's is compiled with.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "cmake, g++, libhwloc-dev, zlib1g-dev")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libcli11-dev, python3")
include(CPack)
