#include "reduce/gradient_hooks.h"

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
      auto& slot = torch::autograd::impl::post_acc_grad_hooks(tensor);
      auto* own = dynamic_cast<Hook*>(slot.get());
      if (own == nullptr || &own->ready != &ready_) continue;  // the user has set another since
      auto users = std::move(own->users);
      torch::autograd::impl::set_post_acc_grad_hooks(tensor, std::move(users));
    }
  }
}

}  // namespace pagoda
