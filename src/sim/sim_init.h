#pragma once

namespace pagoda {

/// Initialises the backend through LibTorch, once for the process, as the first tensor on a card
/// does; listing cards, choosing one and making generators do not.
void initialise_sim();

/// What LibTorch's initialisation calls.
void note_sim_initialised();
bool sim_is_initialised();

/// Fails: DeviceError before that, as CUDA's allocator does for statistics and raw memory. Cards
/// that are not strict are ready from the start.
void require_sim_initialised(const char* what, int card);

/// While it lives, the cards are being set up: what is done on them meanwhile initialises nothing
/// and opens no context.
class SimSetUp {
 public:
  SimSetUp();
  ~SimSetUp();
  SimSetUp(const SimSetUp&) = delete;
  SimSetUp& operator=(const SimSetUp&) = delete;

  static bool under_way();
};

}  // namespace pagoda
