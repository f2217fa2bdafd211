#include "program/loaded_program.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <utility>

#include "base/quoted_text.h"
#include "program/evaluation_form.h"
#include "program/graph_cut.h"
#include "program/operator_table.h"
#include "program/program_archive.h"

namespace pagoda {
namespace {

using Weights = std::map<std::string, StoredWeight>;

struct ProgramNames {
  std::string training;
  std::optional<std::string> evaluation;
};

ProgramNames chosen_programs(const ProgramArchive& archive, const std::string& file) {
  const std::vector<std::string> names = archive.programs();
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (names.size() == 1) return {names.front(), std::nullopt};
  if (has("train"))
    return {"train", has("evaluate") ? std::optional<std::string>("evaluate") : std::nullopt};
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + quoted_text(name);
  throw UsageError(file + " has the programs " + list +
                   "; call the one to train 'train', and its form for evaluation 'evaluate'");
}

/// The first and the last byte of a tensor.
std::pair<const char*, const char*> extent_of(const at::Tensor& tensor) {
  std::int64_t reach = 1;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) reach += (tensor.size(i) - 1) * tensor.stride(i);
  const char* begin = static_cast<const char*>(tensor.const_data_ptr());
  return {begin, begin + reach * static_cast<std::int64_t>(tensor.element_size())};
}

/// Puts the tensors of the programs together.
class StateMaker {
 public:
  StateMaker(const GraphProgram& program, const Weights& weights, const std::string& file)
      : file_(file) {
    for (const auto kind : {InputSpec::Kind::parameter, InputSpec::Kind::buffer}) {
      for (const InputSpec& input : program.inputs) {
        const bool stored = input.kind == kind && input.persistent;
        if (!stored || by_name_.count(input.target) != 0) continue;
        const auto found = weights.find(input.target);
        if (found == weights.end()) fail("it has no tensor for " + quoted_text(input.target));
        add(input.target, found->second);
      }
    }
    for (const auto& [name, weight] : weights) {
      if (by_name_.count(name) == 0) add(name, weight);
    }
    check_apart();
  }

  /// Where the inputs of a graph come from.
  std::vector<InputSource> sources(const GraphProgram& program, const std::string& name,
                                   const Weights& constants) {
    std::vector<InputSource> sources;
    std::size_t users = 0;
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      const InputSpec& input = program.inputs[i];
      using Kind = InputSpec::Kind;
      const bool in_state =
          input.kind == Kind::parameter || (input.kind == Kind::buffer && input.persistent);
      if (input.kind == Kind::user)
        sources.push_back(
            {input.is_number ? InputSource::Kind::number : InputSource::Kind::user, users++});
      else if (input.kind == Kind::literal)
        sources.push_back({InputSource::Kind::literal, 0, program.graph.inputs[i].literal});
      else if (in_state)
        sources.push_back({InputSource::Kind::state, state_index(input.target, program, input)});
      else
        sources.push_back(
            {InputSource::Kind::constant, add_constant(input.target, name, constants)});
    }
    return sources;
  }

  std::vector<StateEntry> take_state() { return std::move(state_); }
  std::vector<NamedTensor> take_constants() { return std::move(constants_); }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(file_ + " cannot be used: " + what);
  }

  void add(const std::string& name, const StoredWeight& weight) {
    const auto same = by_identity_.emplace(weight.identity, state_.size()).first->second;
    by_name_[name] = state_.size();
    state_.push_back({.name = name,
                      .initial = weight.tensor,
                      .is_parameter = weight.is_parameter,
                      .requires_grad = weight.requires_grad,
                      .same_as = same});
  }

  /// Weights that are views of each other without being equal would be updated twice.
  void check_apart() const {
    std::vector<const StateEntry*> entries;
    for (std::size_t i = 0; i < state_.size(); ++i) {
      if (state_[i].same_as == i && state_[i].is_parameter && state_[i].initial.numel() > 0)
        entries.push_back(&state_[i]);
    }
    std::sort(entries.begin(), entries.end(), [](const StateEntry* a, const StateEntry* b) {
      return a->initial.const_data_ptr() < b->initial.const_data_ptr();
    });
    for (std::size_t i = 1; i < entries.size(); ++i) {
      if (extent_of(entries[i]->initial).first >= extent_of(entries[i - 1]->initial).second)
        continue;
      fail("the parameters " + quoted_text(entries[i - 1]->name) + " and " +
           quoted_text(entries[i]->name) +
           " are different views of the same memory; export the model with weights that are whole, "
           "or tied as one parameter");
    }
  }

  std::size_t state_index(const std::string& name, const GraphProgram& program,
                          const InputSpec& input) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end())
      fail("its program for evaluation uses " + quoted_text(name) + ", which is not in training's");
    const auto meta = program.graph.tensors.find(input.name);
    if (meta == program.graph.tensors.end()) return found->second;
    const at::Tensor& tensor = state_[found->second].initial;
    bool fits = meta->second.type == tensor.scalar_type() &&
                static_cast<std::int64_t>(meta->second.sizes.size()) == tensor.dim();
    for (std::int64_t i = 0; fits && i < tensor.dim(); ++i)
      fits = meta->second.sizes[static_cast<std::size_t>(i)].number == tensor.size(i);
    if (!fits) fail("the tensor " + quoted_text(name) + " is not what its program expects");
    return found->second;
  }

  /// One for all forms of a program.
  std::size_t add_constant(const std::string& name, const std::string& program,
                           const Weights& constants) {
    const auto found = constants.find(name);
    if (found == constants.end()) fail("it has no tensor for " + quoted_text(name));
    const auto [known, is_new] = by_constant_.emplace(program + "/" + name, constants_.size());
    if (is_new) constants_.push_back({name, found->second.tensor});
    return known->second;
  }

  const std::string file_;
  std::vector<StateEntry> state_;
  std::vector<NamedTensor> constants_;
  std::map<std::string, std::size_t> by_name_;
  std::map<std::string, std::size_t> by_identity_;
  std::map<std::string, std::size_t> by_constant_;
};

/// Reads, compiles and puts together what a file has.
class ProgramLoader {
 public:
  ProgramLoader(const std::filesystem::path& file, const ProgramOptions& options)
      : file_(file.string()),
        archive_(file),
        names_(chosen_programs(archive_, file_)),
        operators_(options.operator_namespaces),
        cuts_(options.cut_before) {}

  LoadedProgram load() {
    LoadedProgram loaded{.file = file_, .training = archive_.program(names_.training)};
    StateMaker state(loaded.training, archive_.weights(names_.training), file_);
    GraphCompiler compiler(operators_);
    auto code = std::make_shared<ProgramCode>(
        ProgramCode{form(loaded.training, loaded.training.graph, names_.training, compiler, state),
                    std::nullopt,
                    {}});
    loaded.evaluation = add_evaluation(*code, loaded.training, compiler, state);
    loaded.problems = compiler.problems();
    if (loaded.problems.empty()) loaded.code = std::move(code);
    loaded.constants = state.take_constants();
    loaded.state = state.take_state();
    return loaded;
  }

 private:
  template <class Read>
  auto explained(Read read) const {
    try {
      return read();
    } catch (const DataError& error) {
      const std::string what = error.what();
      if (what.starts_with(file_)) throw;
      throw DataError(file_ + " cannot be used: " + what);
    }
  }

  ProgramForm form(const GraphProgram& program, const Graph& graph, const std::string& name,
                   GraphCompiler& compiler, StateMaker& state) const {
    return explained([&] {
      ProgramForm form{.whole = {compiler.compile(graph),
                                 state.sources(program, name, archive_.constants(name)), "program"},
                       .layers = {},
                       .check = InputCheck(program),
                       .output_names = program.output_names};
      if (form.whole.block && !cuts_.empty()) form.layers = layers_of(graph, form.whole.sources);
      return form;
    });
  }

  std::vector<ProgramPart> layers_of(const Graph& graph,
                                     const std::vector<InputSource>& sources) const {
    std::vector<ProgramPart> layers;
    GraphCompiler compiler(operators_);
    for (GraphPart& part : cut_graph(graph, sources, cuts_))
      layers.push_back(
          {compiler.compile(part.graph), std::move(part.sources), std::move(part.name)});
    return layers;
  }

  /// Returns how the program is evaluated, for people.
  std::string add_evaluation(ProgramCode& code, const GraphProgram& training,
                             GraphCompiler& compiler, StateMaker& state) const {
    if (names_.evaluation) {
      const GraphProgram program = archive_.program(*names_.evaluation);
      code.evaluation.emplace(form(program, program.graph, *names_.evaluation, compiler, state));
      return "a program of its own, 'evaluate'";
    }
    const EvaluationForm turned = evaluation_form(training, operators_);
    if (!turned.problems.empty()) {
      code.no_evaluation = problems_text(turned.problems);
      return "only by a second program, 'evaluate', in the file: " + code.no_evaluation;
    }
    GraphCompiler second(operators_);  // its problems are those of the first
    code.evaluation.emplace(form(training, turned.graph, names_.training, second, state));
    return "the same program, with dropout and BatchNorm turned over";
  }

  const std::string file_;
  const ProgramArchive archive_;
  const ProgramNames names_;
  const OperatorTable operators_;
  const std::vector<std::string> cuts_;
};

}  // namespace

LoadedProgram load_program(const std::filesystem::path& file, const ProgramOptions& options) {
  return ProgramLoader(file, options).load();
}

std::string problems_text(const std::vector<ProgramProblem>& problems) {
  std::string text;
  for (const auto& [what, module, count] : problems) {
    text += (text.empty() ? "" : "; ") + what + " (" +
            (module.empty() ? "the model itself" : "module " + quoted_text(module));
    text += count > 1 ? ", " + std::to_string(count) + " times)" : ")";
  }
  return text;
}

}  // namespace pagoda
