#include "world/route.h"

#include <pagoda/world/world.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

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

}  // namespace

std::string address_towards(const std::string& host, int port) {
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
    std::array<char, NI_MAXHOST> text{};
    if (getnameinfo(reinterpret_cast<sockaddr*>(&own), length, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) == 0)
      return text.data();
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
