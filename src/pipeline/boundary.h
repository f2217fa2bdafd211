#pragma once

#include <pagoda/params/layer.h>

#include <vector>

namespace pagoda {

/// What one stage hands to the next: tensors without their graph, and which of them want a gradient
/// back.
struct Parcel {
  Tensors tensors;
  std::vector<char> wants_gradient;
};

/// A stage's outputs for the next one.
Parcel parcel_of(const Tensors& outputs);

/// The same where no graph was recorded: all floating-point tensors want a gradient if `any` does.
Parcel parcel_of(const Tensors& outputs, bool any);

/// The parcel's tensors on a device, as leaves of a graph that begins here.
Tensors unpack(const Parcel& parcel, c10::Device device);

/// Runs backward from `outputs`, each with its gradient; those without one, and those that need
/// none, are left out.
void backward_from(const Tensors& outputs, const Tensors& gradients);

/// Takes the gradients out of leaves; undefined where there is none.
Tensors take_gradients(const Tensors& leaves);

}  // namespace pagoda
