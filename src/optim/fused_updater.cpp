#include "optim/fused_updater.h"

#include "optim/fused_pass.h"

namespace pagoda {
namespace {

struct BuiltinKernel {
  explicit BuiltinKernel(const OptimizerOptions& optimizer) : steps(optimizer) {}

  void prepare(const std::vector<ParameterTurn>& turns) { steps.prepare(turns); }

  template <class T>
  void update(std::size_t parameter, double l2, double average_gain, const UpdateSpan<T>& span) {
    update_span(steps[parameter], l2, average_gain, span);
  }

  BuiltinSteps steps;
};

}  // namespace

std::unique_ptr<PartUpdater> make_fused_part(const std::vector<NamedTensor>& parameters,
                                             const OptimizerOptions& optimizer,
                                             const UpdateOptions& options, UpdatePart part) {
  check(optimizer);
  check(options);
  check_parameters(parameters);
  check_range(optimizer, parameters);
  return std::make_unique<FusedPass<BuiltinKernel>>(BuiltinKernel(optimizer), parameters,
                                                    traits_of(optimizer), options, part);
}

std::unique_ptr<Updater> make_fused_updater(const std::vector<NamedTensor>& parameters,
                                            const OptimizerOptions& optimizer,
                                            const UpdateOptions& options) {
  return make_fused_part(parameters, optimizer, options, {});
}

}  // namespace pagoda
