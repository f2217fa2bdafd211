#pragma once

#include <functional>
#include <string>
#include <thread>

namespace pagoda {

/// Starts a thread that runs `work`; `purpose` says whose it is, such as "tower 2".
/// Fails: DeviceError when the system refuses another thread.
std::thread start_thread(const std::string& purpose, std::function<void()> work);

}  // namespace pagoda
