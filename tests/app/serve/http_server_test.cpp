#include "serve/http_server.h"

#include <pagoda/base/error.h>

#include <array>
#include <latch>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "support/refused_threads.h"

namespace pagoda::app {
namespace http_server_test {

/// Each line in brackets; "wait" waits until `go` is open.
struct Echo {
  std::latch started{1};
  std::latch go{1};

  TranslationService::Queue::Work function() {
    return [this](const std::vector<std::string>& lines, const DecodingChoice&) {
      std::vector<std::vector<Translation>> found;
      for (const auto& line : lines) {
        if (line == "wait") {
          started.count_down();
          go.wait();
        }
        found.push_back({{.text = "<" + line + ">"}});
      }
      return found;
    };
  }
};

struct Served {
  explicit Served(HttpServerOptions options = {}) : server(service, at_any_port(options)) {}

  static HttpServerOptions at_any_port(HttpServerOptions options) {
    options.port = 0;
    return options;
  }
  int port() const { return std::stoi(server.address().substr(server.address().rfind(':') + 1)); }

  Echo echo;
  TranslationService service{echo.function(),
                             {.queue = {.max_wait = std::chrono::milliseconds(0)}}};
  HttpServer server;
};

/// A client that sends bytes as they are.
class Client {
 public:
  explicit Client(const Served& served) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(served.port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~Client() { ::close(socket_); }

  void send(const std::string& text) {
    std::size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t count = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (count < 0) return;  // the server has had enough
      sent += static_cast<std::size_t>(count);
    }
  }

  void send_request(const std::string& body, const std::string& headers = "") {
    send("POST /translate HTTP/1.1\r\nHost: x\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }

  /// One answer, with its headers; what came before the connection ended if it did.
  std::string answer() {
    while (received_.find("\r\n\r\n") == std::string::npos) {
      if (!receive()) return std::exchange(received_, "");
    }
    const std::size_t body = received_.find("\r\n\r\n") + 4;
    const std::size_t length = received_.find("Content-Length: ");
    const std::size_t end = body + std::stoul(received_.substr(length + 16));
    while (received_.size() < end && receive()) {
    }
    std::string answer = received_.substr(0, end);
    received_.erase(0, end);
    return answer;
  }

  bool is_closed() { return received_.empty() && !receive(); }

 private:
  bool receive() {
    std::array<char, 4096> piece{};
    const ssize_t count = ::recv(socket_, piece.data(), piece.size(), 0);
    if (count > 0) received_.append(piece.data(), static_cast<std::size_t>(count));
    return count > 0;
  }

  int socket_;
  std::string received_;
};

void expect_answer(const std::string& answer, int status, const std::string& part) {
  EXPECT_EQ(answer.find("HTTP/1.1 " + std::to_string(status)), 0u) << answer;
  EXPECT_NE(answer.find(part), std::string::npos) << part << " is not in " << answer;
}

std::string answer_to(const Served& served, const std::string& request) {
  Client client(served);
  client.send(request);
  return client.answer();
}

TEST(HttpServerTest, AnswersManyRequestsOfOneConnection) {
  const Served served;
  Client client(served);
  for (int i = 0; i < 20; ++i) {
    client.send_request(R"({"text": "n)" + std::to_string(i) + "\"}");
    expect_answer(client.answer(), 200, "\"text\":\"<n" + std::to_string(i) + ">\"");
  }
  client.send("GET /health HTTP/1.1\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n");  // both at once
  expect_answer(client.answer(), 200, "\"status\":\"ok\"");
  expect_answer(client.answer(), 200, "pagoda_requests_total{status=\"200\"} 21\n");
}

TEST(HttpServerTest, HasAPageThatAsksNobodyElse) {
  const Served served;
  const std::string page = answer_to(served, "GET / HTTP/1.1\r\n\r\n");
  expect_answer(page, 200, "Content-Security-Policy: default-src 'none'");
  expect_answer(page, 200, "<textarea");
  EXPECT_EQ(page.find("https://"), std::string::npos);
}

TEST(HttpServerTest, SaysWhereToGoForOtherPathsAndMethods) {
  const Served served;
  expect_answer(answer_to(served, "GET /nothing HTTP/1.1\r\n\r\n"), 404,
                "{\"error\":\"there is nothing");
  const std::string get = answer_to(served, "GET /translate HTTP/1.1\r\n\r\n");
  expect_answer(get, 405, "Allow: POST");
  expect_answer(get, 405, "/translate takes POST, not GET");
  expect_answer(answer_to(served, "DELETE /health HTTP/1.1\r\n\r\n"), 405, "Allow: GET");
  expect_answer(answer_to(served, "POST /translate HTTP/1.1\r\n\r\n"), 400, "not JSON");
  expect_answer(answer_to(served, "nonsense\r\n\r\n"), 400, "{\"error\":\"");
  expect_answer(answer_to(served, "GET /" + std::string(9000, 'x') + " HTTP/1.1\r\n\r\n"), 414,
                "too long");
}

TEST(HttpServerTest, RefusesABodyThatIsTooLargeAndStaysInStep) {
  const Served served({.max_request_bytes = 100});
  Client client(served);
  client.send_request(std::string(101, ' '));
  expect_answer(client.answer(), 413, "the request has more than 100 bytes (--max-request)");
  client.send("POST /translate HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 3; ++i) client.send("28\r\n" + std::string(40, ' ') + "\r\n");
  client.send("0\r\n\r\n");
  expect_answer(client.answer(), 413, "more than 100 bytes");
  client.send_request(R"({"text": "a"})");
  expect_answer(client.answer(), 200, "<a>");

  client.send_request(std::string(2'000'000, ' '));  // too large to be read to its end
  expect_answer(client.answer(), 413, "more than 100 bytes");
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpServerTest, HeadersWithoutEndAreNotKept) {
  const Served served({.max_request_bytes = 100});
  for (const std::string& begin : {std::string("GET /"), std::string("GET / HTTP/1.1\r\na: ")}) {
    Client client(served);
    client.send(begin + std::string(1'000'000, 'x'));
    const std::string answer = client.answer();
    EXPECT_TRUE(answer.empty() || answer.find("HTTP/1.1 4") == 0) << answer;
  }
}

TEST(HttpServerTest, ACompressedBodyAFormAndARangeAreTakenAsPlainBytes) {
  const Served served;
  Client client(served);
  const std::string body = R"({"text": "a"})";
  for (const char* header : {"Content-Encoding: gzip\r\n", "Range: bytes=0-0,2-3\r\n",
                             "Content-Type: multipart/form-data; boundary=x\r\n",
                             "Content-Type: application/x-www-form-urlencoded\r\n"}) {
    client.send_request(body, header);
    expect_answer(client.answer(), 200, "<a>");
  }
}

TEST(HttpServerTest, ABodyWhereNoneBelongsIsNotTheNextRequest) {
  const Served served;
  Client client(served);
  const std::string hidden = "GET /health HTTP/1.1\r\n\r\n";
  client.send("GET /metrics HTTP/1.1\r\nContent-Length: " + std::to_string(hidden.size()) +
              "\r\n\r\n" + hidden);
  expect_answer(client.answer(), 200, "pagoda_requests_total");
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpServerTest, ABodyThatWasNotReadIsNotTheNextRequest) {
  const Served served;
  const std::string hidden = "GET /health HTTP/1.1\r\n\r\n";
  const std::string length = std::to_string(hidden.size());
  for (const std::string& headers :
       {"Range: bytes=5-1\r\nContent-Length: " + length,  // answered before the body is looked at
        "Content-Length: 0x" + length, "Content-Length: +" + length}) {
    Client client(served);
    client.send("POST /translate HTTP/1.1\r\n" + headers + "\r\n\r\n" + hidden);
    EXPECT_EQ(client.answer().find("HTTP/1.1 4"), 0u) << headers;
    EXPECT_TRUE(client.is_closed()) << headers;
  }
}

TEST(HttpServerTest, ALongListOfRangesIsRefused) {
  const Served served;
  std::string ranges = "bytes=-";
  while (ranges.size() < 8000) ranges += ",-";
  const std::string answer =
      answer_to(served, "GET /health HTTP/1.1\r\nRange: " + ranges + "\r\n\r\n");
  EXPECT_EQ(answer.find("HTTP/1.1 "), 0u) << answer;
  expect_answer(answer_to(served, "GET /health HTTP/1.1\r\n\r\n"), 200, "ok");
}

TEST(HttpServerTest, SlowAndBrokenOffRequestsFreeTheirConnection) {
  const Served served({.timeout = std::chrono::milliseconds(50), .connections = 1});
  for (const char* begin : {"", "P", "POST /translate HTTP/1.1\r\nContent-Le",
                            "POST /translate HTTP/1.1\r\nContent-Length: 50\r\n\r\n{\"te"}) {
    {
      Client broken_off(served);
      broken_off.send(begin);
    }
    if (*begin == '\0') continue;  // an idle connection may stay for longer
    Client slow(served);
    slow.send(begin);
    const std::string answer = slow.answer();
    EXPECT_TRUE(answer.empty() || answer.find("HTTP/1.1 400") == 0) << answer;
    EXPECT_TRUE(slow.is_closed());
  }
  expect_answer(answer_to(served, "GET /health HTTP/1.1\r\n\r\n"), 200, "ok");
}

TEST(HttpServerTest, MoreConnectionsThanItServesAtATimeWait) {
  const Served served({.connections = 1});
  Client first(served);
  Client second(served);
  first.send_request(R"({"text": "a"})");
  expect_answer(first.answer(), 200, "Connection: close");
  second.send_request(R"({"text": "b"})");
  expect_answer(second.answer(), 200, "<b>");
}

TEST(HttpServerTest, StoppingAnswersWhatHasComeAndClosesWhatIsIdle) {
  Served served;
  Client idle(served);
  idle.send("GET /health HTTP/1.1\r\n\r\n");
  expect_answer(idle.answer(), 200, "ok");
  Client busy(served);
  busy.send_request(R"({"text": "wait"})");
  served.echo.started.wait();
  std::thread stopping([&] { served.server.stop(); });
  EXPECT_TRUE(idle.is_closed());
  served.echo.go.count_down();
  expect_answer(busy.answer(), 200, "<wait>");
  EXPECT_TRUE(busy.is_closed());
  stopping.join();
}

TEST(HttpServerTest, ThreadsThatCannotBeHadAreAnError) {
  Served served;
  const testing::RefusedThread refused(3);
  EXPECT_THROW(HttpServer(served.service, {.port = 0}), DeviceError);
}

TEST(HttpServerTest, APortThatIsTakenIsAnErrorThatNamesIt) {
  Served served;
  try {
    HttpServer second(served.service, {.port = served.port()});
    FAIL() << "listens at " << second.address();
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("port " + std::to_string(served.port())),
              std::string::npos)
        << error.what();
  }
}

}  // namespace http_server_test
}  // namespace pagoda::app
