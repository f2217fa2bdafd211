#pragma once

// `.pt2` files made by hand: y = linear(x, weight), and whatever else a test wants.

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "support/crafted_archive.h"
#include "support/scratch_directory.h"

namespace pagoda::testing {

inline std::string tensor_argument(const std::string& name) {
  return R"({"as_tensor": {"name": ")" + name + R"("}})";
}

/// {"name": "self", "arg": …}
inline std::string named_argument(const std::string& name, const std::string& argument) {
  return R"({"name": ")" + name + R"(", "arg": )" + argument + R"(, "kind": 1})";
}

/// A node; `outputs` are names of tensors.
inline std::string graph_node(const std::string& target, const std::string& inputs,
                              const std::string& output, const std::string& module = "head") {
  return R"({"target": ")" + target + R"(", "inputs": [)" + inputs + R"(], "outputs": [)" +
         (output.empty() ? "" : tensor_argument(output)) +
         R"(], "metadata": {"nn_module_stack": "L__self__,,M;L__self__h,)" + module +
         R"(,torch.nn.Linear"}})";
}

inline std::string tensor_meta(const std::string& sizes, const std::string& strides, int type = 7) {
  return R"({"dtype": )" + std::to_string(type) + R"(, "sizes": [)" + sizes +
         R"(], "requires_grad": true, "device": {"type": "cpu", "index": null}, "strides": [)" +
         strides + R"(], "storage_offset": {"as_int": 0}, "layout": 7})";
}

inline const std::string kBatchSize =
    R"json({"as_expr": {"expr_str": "Symbol('s17', positive=True, integer=True)", "hint": null}})json";

/// The parts of a file, each of which a test may change.
struct CraftedProgram {
  int major = 8;
  std::string verifier = "TRAINING";
  std::string inputs = tensor_argument("p_weight") + ", " + tensor_argument("x");
  std::string input_specs =
      R"({"parameter": {"arg": {"name": "p_weight"}, "parameter_name": "head.weight"}}, )"
      R"({"user_input": {"arg": {"as_tensor": {"name": "x"}}}})";
  std::string nodes = graph_node("torch.ops.aten.linear.default",
                                 named_argument("input", tensor_argument("x")) + ", " +
                                     named_argument("weight", tensor_argument("p_weight")),
                                 "linear");
  std::string outputs = tensor_argument("linear");
  std::string output_specs = R"({"user_output": {"arg": {"as_tensor": {"name": "linear"}}}})";
  std::string ranges = R"("s17": {"min_val": 2, "max_val": 5})";
  std::string weight_meta =
      tensor_meta(R"({"as_int": 3}, {"as_int": 2})", R"({"as_int": 2}, {"as_int": 1})");
  std::string use_pickle = "false";
  std::vector<float> weight = {1, 2, 3, 4, 5, 6};

  std::string json() const {
    const std::string batch =
        tensor_meta(kBatchSize + R"(, {"as_int": 2})", R"({"as_int": 2}, {"as_int": 1})");
    return R"({"graph_module": {"graph": {"inputs": [)" + inputs + R"(], "outputs": [)" + outputs +
           R"(], "nodes": [)" + nodes + R"(], "tensor_values": {"x": )" + batch +
           R"(, "p_weight": )" + weight_meta +
           R"(}, "sym_int_values": {}, "sym_bool_values": {}}, "signature": {"input_specs": [)" +
           input_specs + R"(], "output_specs": [)" + output_specs +
           R"(]}, "module_call_graph": []}, "opset_version": {"aten": 10}, "range_constraints": {)" +
           ranges + R"(}, "schema_version": {"major": )" + std::to_string(major) +
           R"(, "minor": 1}, "verifiers": [")" + verifier + R"("], "torch_version": "2.13.0"})";
  }

  std::string weights_config() const {
    return R"({"config": {"head.weight": {"path_name": "weight_0", "is_param": true, "use_pickle": )" +
           use_pickle + R"(, "tensor_meta": )" + weight_meta + "}}}";
  }

  ArchiveEntries entries(const std::string& folder = "m") const {
    std::string bytes(weight.size() * sizeof(float), '\0');
    std::memcpy(bytes.data(), weight.data(), bytes.size());
    return {{folder + "/archive_format", "pt2"},
            {folder + "/byteorder", "little"},
            {folder + "/models/model.json", json()},
            {folder + "/data/weights/model_weights_config.json", weights_config()},
            {folder + "/data/weights/weight_0", bytes},
            {folder + "/data/constants/model_constants_config.json", R"({"config": {}})"},
            {folder + "/data/sample_inputs/model.pt", "a pickle"}};
  }

  std::filesystem::path write(const ScratchDirectory& scratch) const {
    return write_entries(scratch, entries());
  }

  static std::filesystem::path write_entries(const ScratchDirectory& scratch,
                                             const ArchiveEntries& entries) {
    write_file(scratch / "m.pt2", zip_of(entries));
    return scratch / "m.pt2";
  }
};

}  // namespace pagoda::testing
