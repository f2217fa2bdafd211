#include <pagoda/train/module_graph.h>

#include <sstream>
#include <string>

#include <torch/nn/module.h>

namespace pagoda {
namespace {

/// "Conv2d" for torch::nn::Conv2dImpl.
std::string kind_of(const torch::nn::Module& module) {
  std::string name = module.name();
  if (const auto colon = name.rfind(':'); colon != std::string::npos) name.erase(0, colon + 1);
  if (name.ends_with("Impl") && name.size() > 4) name.resize(name.size() - 4);
  return name;
}

std::string text_of(const auto& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

GraphNode tensor_node(const std::string& name, const char* op, const at::Tensor& tensor) {
  return {.name = name,
          .op = op,
          .attributes = {{"shape", text_of(tensor.sizes())}, {"type", text_of(tensor.dtype())}}};
}

/// Adds the boxes of a module and of those in it; `level` is empty or ends with a slash.
void add_module(const torch::nn::Module& module, const std::string& level,
                std::vector<GraphNode>& nodes) {
  const std::string kind = kind_of(module);
  GraphNode box{.name = level + "(" + kind + ")", .op = kind};
  const auto add = [&](const char* op, const auto& tensors) {
    for (const auto& tensor : tensors) {
      nodes.push_back(tensor_node(level + tensor.key(), op, tensor.value()));
      box.inputs.push_back(nodes.back().name);
    }
  };
  add("Parameter", module.named_parameters(/*recurse=*/false));
  add("Buffer", module.named_buffers(/*recurse=*/false));
  const bool is_level_only = box.inputs.empty() && !module.children().empty();
  if (!is_level_only) nodes.push_back(std::move(box));
  for (const auto& child : module.named_children()) {
    add_module(*child.value(), level + child.key() + "/", nodes);
  }
}

}  // namespace

std::vector<GraphNode> module_graph(const torch::nn::Module& module) {
  std::vector<GraphNode> nodes;
  add_module(module, "", nodes);
  return nodes;
}

}  // namespace pagoda
