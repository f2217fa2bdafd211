#include <pagoda/base/error.h>
#include <pagoda/world/world_place.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace pagoda {
namespace {

constexpr int kMostProcesses = 1'000'000;
constexpr int kLastPort = 65'535;

/// The variables of one launcher, by their meaning.
struct LauncherNames {
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
};

constexpr LauncherNames kTorchrun{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr LauncherNames kSlurm{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", nullptr};
constexpr LauncherNames kOpenMpi{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                                 "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr LauncherNames kPmi{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};

class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  bool has(const char* name) const { return name != nullptr && environment_(name) != nullptr; }

  std::string text(const char* name) const { return has(name) ? environment_(name) : ""; }

  /// From `least` to `most`; `otherwise` when it is unset.
  int number(const char* name, int least, int most, int otherwise) const {
    if (!has(name)) return otherwise;
    const std::string value = text(name);
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < least ||
        number > most) {
      throw UsageError("the variable " + std::string(name) + " is '" + value +
                       "'; it must be a number from " + std::to_string(least) + " to " +
                       std::to_string(most));
    }
    return number;
  }

 private:
  const Environment& environment_;
};

/// The first of "node[03-07,9],other" is node03.
std::string first_host(const std::string& list) {
  const std::size_t end = list.find_first_of(",[");
  if (end == std::string::npos || list[end] == ',') return list.substr(0, end);
  const std::size_t number_end = list.find_first_of("-,]", end + 1);
  return list.substr(0, end) + list.substr(end + 1, number_end - end - 1);
}

/// Tasks of node `node` in Slurm's "2(x3),1"; 1 where it cannot be read.
int tasks_of_node(std::string_view list, int node) {
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    int tasks = 1;
    std::from_chars(part.data(), part.data() + part.size(), tasks);
    int times = 1;
    if (const std::size_t x = part.find("(x"); x != std::string_view::npos)
      std::from_chars(part.data() + x + 2, part.data() + part.size(), times);
    if (node < times) return tasks;
    node -= times;
    list.remove_prefix(std::min(list.size(), part.size() + 1));
  }
  return 1;
}

/// Rank, size and their local counterparts.
WorldPlace numbered(const Variables& variables, const LauncherNames& names) {
  WorldPlace place;
  place.size = variables.number(names.size, 1, kMostProcesses, 1);
  place.rank = variables.number(names.rank, 0, place.size - 1, 0);
  if (names.local_size != nullptr)
    place.local_size = variables.number(names.local_size, 1, place.size, 1);
  place.local_rank = variables.number(names.local_rank, 0, place.size - 1, 0);
  return place;
}

WorldPlace slurm_place(const Variables& variables) {
  WorldPlace place = numbered(variables, kSlurm);
  const int node = variables.number("SLURM_NODEID", 0, kMostProcesses, 0);
  place.local_size = tasks_of_node(variables.text("SLURM_STEP_TASKS_PER_NODE"), node);
  place.master = first_host(variables.text("SLURM_STEP_NODELIST"));
  // Steps of one job, and jobs on one machine, have ports of their own.
  constexpr int kPorts = 10'000;
  const int job = variables.number("SLURM_JOB_ID", 0, 2'000'000'000, 0);
  const int step = variables.number("SLURM_STEP_ID", 0, 2'000'000'000, 0);
  place.port = 20'000 + (job % kPorts + 17 * (step % kPorts)) % kPorts;
  return place;
}

void take_master(const Variables& variables, WorldPlace& place) {
  if (variables.has("MASTER_ADDR")) place.master = variables.text("MASTER_ADDR");
  place.port = variables.number("MASTER_PORT", 1, kLastPort, place.port);
  if (!place.master.empty()) return;
  throw UsageError("rank " + std::to_string(place.rank) + " of " + std::to_string(place.size) +
                   " does not know the machine of rank 0; set the variable MASTER_ADDR to its name "
                   "or address for all processes");
}

}  // namespace

std::optional<WorldPlace> launched_place(const Environment& environment) {
  const Variables variables(environment);
  const auto started_by = [&](const LauncherNames& names) {
    return variables.has(names.rank) && variables.has(names.size);
  };
  WorldPlace place;
  if (started_by(kTorchrun)) {
    place = numbered(variables, kTorchrun);
    place.master.clear();
    place.launcher_serves = variables.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  } else if (started_by(kSlurm)) {
    place = slurm_place(variables);
  } else if (started_by(kOpenMpi) || started_by(kPmi)) {
    place = numbered(variables, started_by(kOpenMpi) ? kOpenMpi : kPmi);
    if (place.local_size < place.size) place.master.clear();
  }
  if (place.size == 1) return std::nullopt;
  take_master(variables, place);
  return place;
}

std::optional<WorldPlace> launched_place() {
  return launched_place([](const char* name) { return std::getenv(name); });
}

}  // namespace pagoda
