#define USE_C10D_GLOO  // LibTorch was built with it

#include "world/connection.h"

#include <pagoda/world/world.h>

#include <cstdlib>

#include "world/answer_limit.h"

namespace pagoda {
namespace {

std::shared_ptr<gloo::transport::Device> gloo_device(const std::string& address) {
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface != nullptr)
    return Group::createDeviceForInterface(interface);
  return Group::createDeviceForHostname(address);
}

}  // namespace

std::string first_line(const std::exception& error) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  if (const std::size_t end = text.find("] "); text.starts_with('[') && end != std::string::npos)
    text = text.substr(end + 2);
  return text;
}

void silence_c10d() {
  if (std::getenv("TORCH_CPP_LOG_LEVEL") == nullptr) FLAGS_caffe2_log_level = c10::GLOG_FATAL;
}

StorePointer open_store(const WorldPlace& place, std::chrono::milliseconds timeout) {
  const bool serves = place.rank == 0 && !place.launcher_serves;
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(place.port);
  options.isServer = serves;
  options.waitWorkers = false;
  options.timeout = timeout;
  try {
    return open_tcp_store(place.master, options);
  } catch (const std::exception& error) {
    const std::string where = place.master + ":" + std::to_string(place.port);
    throw WorldError(
        "rank " + std::to_string(place.rank) +
        (serves ? " cannot serve the others at " + where + ": " + first_line(error) +
                      "; another run may use the port, choose another with MASTER_PORT or --master"
                : " cannot reach rank 0 at " + where + ": " + first_line(error) +
                      "; is rank 0 running there, and does a firewall let the port through?"));
  }
}

c10::intrusive_ptr<Group> connect(const StorePointer& store, const WorldPlace& place,
                                  const std::string& address, std::chrono::milliseconds timeout,
                                  const std::string& name) {
  auto options = Group::Options::create(timeout);
  try {
    options->devices.push_back(gloo_device(address));
    return c10::make_intrusive<Group>(store, place.rank, place.size, options);
  } catch (const std::exception& error) {
    throw WorldError(name + " cannot connect to the others from " + address + ": " +
                     first_line(error) + "; GLOO_SOCKET_IFNAME chooses another network interface");
  }
}

}  // namespace pagoda
