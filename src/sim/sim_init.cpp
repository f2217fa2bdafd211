#include "sim/sim_init.h"

#include <pagoda/base/error.h>

#include <atomic>
#include <string>

#include <ATen/Context.h>

#include "sim/sim_card.h"

namespace pagoda {
namespace {

std::atomic<bool> initialised = false;
std::atomic<bool> setting_up = false;

}  // namespace

void initialise_sim() {
  if (!setting_up) at::globalContext().lazyInitDevice(c10::DeviceType::PrivateUse1);
}

void note_sim_initialised() { initialised = true; }

bool sim_is_initialised() { return initialised; }

void require_sim_initialised(const char* what, int card) {
  if (initialised || setting_up || !sim_cards_are_strict()) return;
  throw DeviceError(std::string(what) + " of sim:" + std::to_string(card) +
                    " before the cards were initialised; call "
                    "at::globalContext().lazyInitDevice first");
}

SimSetUp::SimSetUp() { setting_up = true; }

SimSetUp::~SimSetUp() { setting_up = false; }

bool SimSetUp::under_way() { return setting_up; }

}  // namespace pagoda
