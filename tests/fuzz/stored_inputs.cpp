// Gives stored inputs to all readers that are linked in, and mutations of these inputs:
//
//     fuzz_inputs [--reader NAME] [--mutations N] [--findings FOLDER] FOLDER...
//
// FOLDER/<reader>/ has the inputs of a reader. Exits with 1 if an input ends the process, throws
// something else than a pagoda::Error, takes absurdly much time or memory, or, where checksums
// cover it, reads as values that none of the stored inputs has.

#include <pagoda/base/error.h>
#include <pagoda/base/whole_file.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <typeinfo>

#include "fuzz/fuzz_target.h"
#include "fuzz/mutation.h"
#include "fuzz/watch.h"

namespace pagoda::fuzz {
namespace {

struct Options {
  std::string reader;  ///< empty: all
  std::uint64_t mutations = 0;
  std::filesystem::path findings;
  std::vector<std::filesystem::path> folders;
};

Options parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    const bool has_value = i + 1 < count;
    if (name == "--reader" && has_value) {
      options.reader = arguments[++i];
    } else if (name == "--mutations" && has_value) {
      options.mutations = std::strtoull(arguments[++i], nullptr, 10);
    } else if (name == "--findings" && has_value) {
      options.findings = arguments[++i];
    } else {
      options.folders.emplace_back(name);
    }
  }
  return options;
}

/// A reader, its inputs, and the values that they have.
struct Readers {
  Target target;
  std::vector<std::string> inputs = {};
  std::set<std::string> values = {};
};

class Run {
 public:
  explicit Run(const Options& options) : options_(options) {
    for (const Target& target : targets()) {
      if (options.reader.empty() || options.reader == target.name) readers_.push_back({target});
    }
  }

  int all() {
    std::size_t inputs = 0;
    for (Readers& reader : readers_) {
      read_stored(reader);
      inputs += reader.inputs.size();
    }
    for (std::uint64_t i = 0; i < options_.mutations; ++i)
      read_mutation(readers_[i % readers_.size()], i);
    std::printf("fuzz: %zu readers, %zu inputs, %llu mutations (%llu refused), %d findings\n",
                readers_.size(), inputs, static_cast<unsigned long long>(options_.mutations),
                static_cast<unsigned long long>(refused_), findings_);
    return findings_ == 0 && inputs > 0 ? 0 : 1;
  }

 private:
  void read_stored(Readers& reader) {
    for (const auto& folder : options_.folders) {
      std::error_code missing;
      std::vector<std::filesystem::path> files;
      for (const auto& entry :
           std::filesystem::directory_iterator(folder / reader.target.name, missing))
        files.push_back(entry.path());
      std::sort(files.begin(), files.end());
      for (const auto& file : files) {
        reader.inputs.push_back(read_whole_file(file));
        const auto value = value_of(reader.target, file.string(), reader.inputs.back());
        if (value) reader.values.insert(*value);
      }
    }
    if (reader.inputs.empty()) report(reader.target.name, "has no input", "");
  }

  void read_mutation(Readers& reader, std::uint64_t number) {
    if (reader.inputs.empty()) return;
    SplitMix64 random(number);
    const auto draw = [&]() -> const std::string& {
      return reader.inputs[random.below(reader.inputs.size())];
    };
    const std::string bytes = mutated(draw(), draw(), random);
    const std::string name =
        std::string(reader.target.name) + "/mutation-" + std::to_string(number);
    const auto value = value_of(reader.target, name, bytes);
    if (!value) ++refused_;
    if (value && reader.target.is_checksummed && !reader.values.contains(*value))
      report(name, "was read as other values, and no checksum told", bytes);
  }

  /// What the input reads as; nothing when it is refused.
  std::optional<std::string> value_of(const Target& target, const std::string& name,
                                      const std::string& bytes) {
    std::string problem;
    std::optional<std::string> value;
    {
      const Watched watched(name, bytes);
      try {
        value = target.read(bytes);
      } catch (const Error&) {
        // refused, as it may
      } catch (const std::exception& error) {
        const std::string what = error.what();
        problem = "throws " + std::string(typeid(error).name()) + ": " +
                  what.substr(0, what.find('\n'));
      }
      if (watched.is_absurdly_large()) problem = "takes absurdly much memory";
    }
    if (!problem.empty()) report(name, problem, bytes);
    return value;
  }

  void report(const std::string& name, const std::string& what, const std::string& bytes) {
    std::fprintf(stderr, "fuzz: %s %s\n", name.c_str(), what.c_str());
    keep_finding(name, bytes);
    ++findings_;
  }

  const Options& options_;
  std::vector<Readers> readers_;
  std::uint64_t refused_ = 0;
  int findings_ = 0;
};

}  // namespace
}  // namespace pagoda::fuzz

int main(int count, char** arguments) {
  const auto options = pagoda::fuzz::parse(count, arguments);
  pagoda::fuzz::watch(options.findings);
  return pagoda::fuzz::Run(options).all();
}
