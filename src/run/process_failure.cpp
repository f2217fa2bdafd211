#include <pagoda/base/error.h>
#include <pagoda/base/error_text.h>
#include <pagoda/run/process_failure.h>

#include <exception>

namespace pagoda::detail {

void throw_named(World* world) {
  if (world == nullptr) throw;
  const auto named = [world](const std::string& text) {
    world->fail(text);
    return world->name(world->rank()) + ": " + text;
  };
  try {
    throw;
  } catch (const WorldError&) {
    throw;
  } catch (const UsageError& error) {
    throw UsageError(named(error.what()));
  } catch (...) {
    throw Error(named(error_text(std::current_exception())));
  }
}

}  // namespace pagoda::detail
