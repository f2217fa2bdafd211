# SentencePiece, which cuts text into sub-words: target Pagoda::sentencepiece, its trainer included.
#
# Linked are private copies, made by tools/private_library, whose flags do not mix with LibTorch's; SentencePiece_PRIVATE
# lists them, and the target private_sentencepiece makes them.
find_path(SentencePiece_INCLUDE_DIR sentencepiece_trainer.h)
find_library(SentencePiece_LIBRARY libsentencepiece.so)
find_library(SentencePiece_TRAIN_LIBRARY libsentencepiece_train.so)
find_package(Python3 COMPONENTS Interpreter QUIET)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SentencePiece
  REQUIRED_VARS SentencePiece_LIBRARY SentencePiece_TRAIN_LIBRARY SentencePiece_INCLUDE_DIR Python3_EXECUTABLE
  REASON_FAILURE_MESSAGE "install it with: apt-get install libsentencepiece-dev python3")
if(NOT SentencePiece_FOUND OR TARGET Pagoda::sentencepiece)
  return()
endif()

set(SentencePiece_PRIVATE)
function(pagoda_private_library original)
  file(REAL_PATH ${original} original)
  cmake_path(GET original FILENAME name)
  string(REGEX REPLACE "^libsentencepiece(.*[.]so[.][0-9]+).*" "libpagoda-pieces\\1" name ${name})  # its soname
  set(copy ${PROJECT_BINARY_DIR}/lib/${name})
  set(tool ${PROJECT_SOURCE_DIR}/tools/private_library)
  add_custom_command(OUTPUT ${copy}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/lib
    COMMAND ${Python3_EXECUTABLE} -B ${tool} ${original} ${copy}
    DEPENDS ${original} ${tool} VERBATIM)
  set(SentencePiece_PRIVATE ${SentencePiece_PRIVATE} ${copy} PARENT_SCOPE)
endfunction()
pagoda_private_library(${SentencePiece_LIBRARY})
pagoda_private_library(${SentencePiece_TRAIN_LIBRARY})
add_custom_target(private_sentencepiece DEPENDS ${SentencePiece_PRIVATE})

list(GET SentencePiece_PRIVATE 0 library)
list(GET SentencePiece_PRIVATE 1 train_library)
add_library(Pagoda::sentencepiece_train SHARED IMPORTED GLOBAL)
set_target_properties(Pagoda::sentencepiece_train PROPERTIES IMPORTED_LOCATION ${train_library})
add_library(Pagoda::sentencepiece SHARED IMPORTED GLOBAL)
set_target_properties(Pagoda::sentencepiece PROPERTIES
  IMPORTED_LOCATION ${library} INTERFACE_INCLUDE_DIRECTORIES ${SentencePiece_INCLUDE_DIR}
  INTERFACE_LINK_LIBRARIES Pagoda::sentencepiece_train)
