#include "reduce/gradient_hooks.h"

#include <pagoda/base/error.h>

#include <utility>

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace pagoda {

using torch::autograd::PostAccumulateGradHook;

/// LibTorch has room for one hook of this kind on a parameter.
struct GradientHooks::Hook final : PostAccumulateGradHook {
  Hook(const Ready& ready, int tower, std::size_t parameter,
       std::unique_ptr<PostAccumulateGradHook> users)
      : ready(ready), tower(tower), parameter(parameter), users(std::move(users)) {}

  void operator()(const torch::autograd::Variable& variable) override {
    if (users) (*users)(variable);
    ready(tower, parameter);
  }

  const Ready& ready;
  const int tower;
  const std::size_t parameter;
  std::unique_ptr<PostAccumulateGradHook> users;
};

GradientHooks::GradientHooks(std::shared_ptr<const Replicas> replicas, Ready ready)
    : replicas_(std::move(replicas)), ready_(std::move(ready)) {
  for (int tower = 0; tower < replicas_->size(); ++tower) {
    const auto& parameters = replicas_->table(tower).trainable;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      auto& slot = torch::autograd::impl::post_acc_grad_hooks(parameters[i].tensor);
      auto hook = std::make_unique<Hook>(ready_, tower, i, std::move(slot));
      torch::autograd::impl::set_post_acc_grad_hooks(parameters[i].tensor, std::move(hook));
    }
  }
}

GradientHooks::~GradientHooks() {
  for (int tower = 0; tower < replicas_->size(); ++tower) {
    for (const auto& [name, tensor] : replicas_->table(tower).trainable) {
      // Another step's may stand before it. Where the user has set another since, ours is gone.
      auto* place = &torch::autograd::impl::post_acc_grad_hooks(tensor);
      while (auto* hook = dynamic_cast<Hook*>(place->get())) {
        if (&hook->ready == &ready_) {
          *place = std::move(hook->users);
          break;
        }
        place = &hook->users;
      }
    }
  }
}

void refuse_late_gradient(const std::string& name, const char* others) {
  throw UsageError("backward has changed the gradient of '" + name +
                   "' after it was complete, and had left for the other " + others);
}

}  // namespace pagoda
