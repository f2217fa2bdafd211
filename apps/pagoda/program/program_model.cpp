#include "program/program_model.h"

#include "program/program_training.h"

namespace pagoda::app {

KnownModel program_model() {
  return {.name = "program",
          .about = "A model made in Python: what torch.export.save wrote",
          .training = [] { return std::make_unique<ProgramTraining>(); }};
}

}  // namespace pagoda::app
