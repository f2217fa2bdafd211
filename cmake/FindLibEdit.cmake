# libedit, for lines that are edited on a terminal: target LibEdit::libedit.
find_path(LibEdit_INCLUDE_DIR histedit.h)
find_library(LibEdit_LIBRARY edit)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibEdit
  REQUIRED_VARS LibEdit_LIBRARY LibEdit_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install it with: apt-get install libedit-dev")
if(LibEdit_FOUND AND NOT TARGET LibEdit::libedit)
  add_library(LibEdit::libedit UNKNOWN IMPORTED)
  set_target_properties(LibEdit::libedit PROPERTIES
    IMPORTED_LOCATION ${LibEdit_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${LibEdit_INCLUDE_DIR})
endif()
