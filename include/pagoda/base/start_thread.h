#pragma once

#include <functional>
#include <string>
#include <thread>

namespace pagoda {

/// Starts a thread that runs `work`; `purpose`, such as "tower 2", names it in an error message.
/// Fails: DeviceError if the system refuses to start another thread.
std::thread start_thread(const std::string& purpose, std::function<void()> work);

}  // namespace pagoda
