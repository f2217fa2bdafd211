#pragma once

#include <string>

namespace pagoda {

/// This machine's address on the way to another, by the system's routes; nothing is sent.
/// Fails: WorldError when the name is unknown or there is no way.
std::string address_towards(const std::string& host, int port);

/// "name" of this machine, for messages.
std::string host_name();

}  // namespace pagoda
