#include <pagoda/base/error.h>
#include <pagoda/program/exported_program.h>

#include <algorithm>
#include <dlfcn.h>
#include <set>

#include <ATen/core/dispatch/Dispatcher.h>

namespace pagoda {
namespace {

std::set<std::string> operator_names() {
  std::set<std::string> names;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames())
    names.insert(name.name);
  return names;
}

}  // namespace

std::vector<std::string> load_operator_library(const std::filesystem::path& file) {
  const std::set<std::string> before = operator_names();
  // A name without a slash would be searched for in the system's folders.
  const std::filesystem::path path = std::filesystem::absolute(file);
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
    throw UsageError("cannot load the library " + file.string() + ": " + dlerror());
  std::set<std::string> namespaces;
  for (const std::string& name : operator_names()) {
    if (before.count(name) == 0) namespaces.insert(name.substr(0, name.find(':')));
  }
  if (namespaces.empty())
    throw UsageError("the library " + file.string() +
                     " registers no operator that was not there before");
  return {namespaces.begin(), namespaces.end()};
}

}  // namespace pagoda
