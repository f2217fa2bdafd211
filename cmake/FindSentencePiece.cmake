# SentencePiece, which cuts text into sub-words: target SentencePiece::sentencepiece, its trainer included.
find_path(SentencePiece_INCLUDE_DIR sentencepiece_trainer.h)
find_library(SentencePiece_LIBRARY sentencepiece)
find_library(SentencePiece_TRAIN_LIBRARY sentencepiece_train)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SentencePiece
  REQUIRED_VARS SentencePiece_LIBRARY SentencePiece_TRAIN_LIBRARY SentencePiece_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install it with: apt-get install libsentencepiece-dev")
if(SentencePiece_FOUND AND NOT TARGET SentencePiece::sentencepiece)
  add_library(SentencePiece::sentencepiece UNKNOWN IMPORTED)
  set_target_properties(SentencePiece::sentencepiece PROPERTIES
    IMPORTED_LOCATION ${SentencePiece_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${SentencePiece_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES ${SentencePiece_TRAIN_LIBRARY})
endif()
