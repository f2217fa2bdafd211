#include "world/route.h"

#include <pagoda/world/world.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netinet/in.h>

namespace pagoda {
namespace {

class Socket {
 public:
  explicit Socket(int number) : number_(number) {}
  ~Socket() {
    if (number_ >= 0) close(number_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Addresses addresses_of(const std::string& host, int port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (error != 0) {
    throw WorldError("the machine of rank 0, '" + host + "', is unknown here: " +
                     gai_strerror(error) + "; check MASTER_ADDR or --master");
  }
  return {found, freeaddrinfo};
}

/// "10.0.0.1"; empty where it is none of the internet's.
std::string address_text(const sockaddr* address) {
  const bool is_old = address->sa_family == AF_INET;
  if (!is_old && address->sa_family != AF_INET6) return "";
  std::array<char, NI_MAXHOST> text{};
  const socklen_t length = is_old ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  if (getnameinfo(address, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    return "";
  return text.data();
}

/// The first address of a network interface.
std::string address_of_interface(const std::string& name) {
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) found = nullptr;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(found, freeifaddrs);
  for (const ifaddrs* one = all.get(); one != nullptr; one = one->ifa_next) {
    if (name != one->ifa_name || one->ifa_addr == nullptr) continue;
    if (std::string text = address_text(one->ifa_addr); !text.empty()) return text;
  }
  throw WorldError("GLOO_SOCKET_IFNAME is '" + name +
                   "', but this machine has no network interface of that name with an address; "
                   "`ip address` lists them");
}

}  // namespace

std::string address_towards(const std::string& host, int port) {
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr) return address_of_interface(interface);
  const Addresses found = addresses_of(host, port);
  int error = 0;
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    const Socket socket(::socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    // Connecting a datagram socket only chooses the route.
    if (socket.number() < 0 || connect(socket.number(), one->ai_addr, one->ai_addrlen) != 0 ||
        getsockname(socket.number(), reinterpret_cast<sockaddr*>(&own), &length) != 0) {
      error = errno;
      continue;
    }
    if (std::string text = address_text(reinterpret_cast<sockaddr*>(&own)); !text.empty())
      return text;
  }
  throw WorldError("there is no way to the machine of rank 0, '" + host + "': " +
                   std::strerror(error) + "; check MASTER_ADDR or --master, and the network");
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

}  // namespace pagoda
