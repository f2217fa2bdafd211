#include <pagoda/base/json.h>
#include <pagoda/cli/run_flags.h>
#include <pagoda/terminal/text_table.h>

#include <cstdio>

#include "commands/commands.h"
#include "run/warned_devices.h"

namespace pagoda::app {
namespace {

/// What it computes with: the numbers of its cores, or a CUDA card's compute capability.
std::string cores_text(const Device& device) {
  if (!device.capability.empty()) return "capability " + device.capability;
  if (!device.pinned) return "any " + std::to_string(device.cores.size());
  std::string list;
  for (const int core : device.cores) list += (list.empty() ? "" : ",") + std::to_string(core);
  return list.empty() ? "-" : list;
}

/// A card that a mask names by its UUID has no number of its own.
std::string original_text(const Device& device) {
  return device.original < 0 ? "uuid" : std::to_string(device.original);
}

void print_table(const std::vector<Device>& devices) {
  std::vector<std::vector<std::string>> rows{
      {"device", "original", "cores", "memory", "free", "limit", "name"}};
  for (const auto& device : devices) {
    const MemoryUse use = memory_use(device);
    rows.push_back({device.label(), original_text(device), cores_text(device),
                    bytes_text(use.total), bytes_text(use.free),
                    use.limit ? bytes_text(*use.limit) : "-", device.name});
  }
  std::fputs(text_table(rows).c_str(), stdout);
}

void print_json(const std::vector<Device>& devices) {
  JsonWriter json;
  json.begin_array();
  for (const auto& device : devices) {
    const MemoryUse use = memory_use(device);
    json.begin_object();
    json.key("kind").value(kind_name(device.kind)).key("index").value(device.index);
    json.key("original");
    device.original < 0 ? json.null() : json.value(device.original);
    json.key("name").value(device.name).key("cores").values(device.cores);
    json.key("pinned");
    device.kind == DeviceKind::cpu ? json.value(device.pinned) : json.null();
    json.key("capability");
    device.capability.empty() ? json.null() : json.value(device.capability);
    json.key("memory_bytes").value(use.total).key("free_bytes").value(use.free);
    json.key("limit_bytes");
    use.limit ? json.value(*use.limit) : json.null();
    json.end_object();
  }
  json.end_array();
  std::puts(json.text().c_str());
}

}  // namespace

void add_devices_command(CLI::App& program, Action& action) {
  struct Flags {
    DeviceChoice devices;
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = program.add_subcommand("devices", "List the devices that training may use");
  add_device_flags(*command, flags->devices);
  command->add_flag("--json", flags->json, "print a JSON array instead of a table");
  command->callback([flags, &action] {
    action = [flags] {
      const DeviceChoice& wanted = flags->devices;
      const auto devices = wanted.devices == "all"
                               ? with_memory(list_devices(wanted.options), wanted.memory)
                               : WarnedDevices(wanted).list();
      flags->json ? print_json(devices) : print_table(devices);
      return 0;
    };
  });
}

}  // namespace pagoda::app
