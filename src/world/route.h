#pragma once

#include <string>

namespace pagoda {

/// This machine's address on the way to another, by the system's routes, or that of the interface which
/// the variable GLOO_SOCKET_IFNAME names; nothing is sent.
/// Fails: WorldError when the name is unknown, there is no way, or no such interface.
std::string address_towards(const std::string& host, int port);

/// "name" of this machine, for messages.
std::string host_name();

}  // namespace pagoda
