#include <pagoda/base/json.h>

#include <cstdio>

#include "commands.h"
#include "flags.h"
#include "text_table.h"

namespace pagoda::app {
namespace {

std::string core_list(const Device& device) {
  std::string list;
  for (const int core : device.cores) list += (list.empty() ? "" : ",") + std::to_string(core);
  return list.empty() ? "-" : list;
}

void print_table(const std::vector<Device>& devices) {
  std::vector<std::vector<std::string>> rows{{"device", "original", "cores", "memory", "name"}};
  for (const auto& device : devices) {
    rows.push_back({device.label(), std::to_string(device.original), core_list(device),
                    bytes_text(device.memory_bytes), device.name});
  }
  std::fputs(text_table(rows).c_str(), stdout);
}

void print_json(const std::vector<Device>& devices) {
  JsonWriter json;
  json.begin_array();
  for (const auto& device : devices) {
    json.begin_object();
    json.key("kind").value(kind_name(device.kind)).key("index").value(device.index);
    json.key("original").value(device.original).key("name").value(device.name);
    json.key("cores").values(device.cores).key("memory_bytes").value(device.memory_bytes);
    json.end_object();
  }
  json.end_array();
  std::puts(json.text().c_str());
}

}  // namespace

void add_devices_command(CLI::App& program, Run& run) {
  struct Flags {
    DeviceFlags devices;
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = program.add_subcommand("devices", "List the devices that training may use");
  add_device_flags(*command, flags->devices);
  command->add_flag("--json", flags->json, "print a JSON array instead of a table");
  command->callback([flags, &run] {
    run = [flags] {
      const bool everything = flags->devices.devices == "all";
      const auto devices =
          everything ? list_devices(flags->devices.options) : chosen_devices(flags->devices);
      flags->json ? print_json(devices) : print_table(devices);
      return 0;
    };
  });
}

}  // namespace pagoda::app
