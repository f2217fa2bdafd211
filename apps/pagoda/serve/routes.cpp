#include "serve/routes.h"

#include <pagoda/base/error_text.h>

#include <cstdio>
#include <map>
#include <string>

#include "serve/answer.h"
#include "serve/page.h"

namespace pagoda::app {
namespace {

// The page has its style and script in itself and asks nobody else.
constexpr const char* kPagePolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src "
    "'self'; img-src data:";

const std::map<std::string, const char*>& allowed_methods() {
  static const std::map<std::string, const char*> methods = {
      {"/", "GET"}, {"/health", "GET"}, {"/metrics", "GET"}, {"/translate", "POST"}};
  return methods;
}

void send(httplib::Response& response, const Reply& reply) {
  response.status = reply.status;
  if (reply.retry) response.set_header("Retry-After", "1");
  response.set_content(reply.body, reply.type);
}

std::string too_large(std::size_t max_request_bytes) {
  return error_json("the request has more than " + std::to_string(max_request_bytes) +
                    " bytes (--max-request); divide it");
}

/// What is said of a request that has found no answer of its own.
void explain(const httplib::Request& request, httplib::Response& response,
             std::size_t max_request_bytes) {
  if (!response.body.empty()) return;
  std::string body = error_json("the request is no HTTP that this server understands");
  if (response.status == 404) {
    const auto known = allowed_methods().find(request.path);
    if (known != allowed_methods().end()) {
      response.status = 405;
      response.set_header("Allow", known->second);
      body = error_json(request.path + " takes " + known->second + ", not " + request.method);
    } else {
      body = error_json(
          "there is nothing here; known are POST /translate, GET /health, GET /metrics and GET /");
    }
  } else if (response.status == 413) {
    body = too_large(max_request_bytes);
  } else if (response.status == 414) {
    body = error_json("the address is too long");
  } else if (response.status >= 500) {
    body = error_json("the request failed; the server's log says why");
  }
  response.set_content(body, "application/json");
}

/// Reads the body and answers it.
void translate(TranslationService& service, httplib::Response& response,
               const httplib::ContentReader& read, std::size_t max_request_bytes) {
  std::string body;
  bool fits = true;
  const bool complete = read([&](const char* piece, std::size_t size) {
    fits = fits && body.size() + size <= max_request_bytes;
    if (fits) body.append(piece, size);
    return true;  // to the end, where the next request begins
  });
  if (!fits) {
    send(response, {.status = 413, .body = too_large(max_request_bytes)});
  } else if (!complete) {
    send(response,
         {.status = 400,
          .body = error_json("the request's body ended early, or came too slowly (--timeout)")});
  } else {
    send(response, service.translate(body));
  }
}

}  // namespace

void add_routes(httplib::Server& server, TranslationService& service,
                std::size_t max_request_bytes) {
  using httplib::Request;
  using httplib::Response;
  server.set_default_headers({{"X-Content-Type-Options", "nosniff"}});
  server.Get("/", [](const Request&, Response& response) {
    response.set_header("Content-Security-Policy", kPagePolicy);
    response.set_content(kPage, "text/html; charset=utf-8");
  });
  server.Get("/health",
             [&](const Request&, Response& response) { send(response, service.health()); });
  server.Get("/metrics",
             [&](const Request&, Response& response) { send(response, service.metrics()); });
  server.Post("/translate", [&service, max_request_bytes](const Request&, Response& response,
                                                          const httplib::ContentReader& read) {
    translate(service, response, read, max_request_bytes);
  });
  server.set_error_handler([max_request_bytes](const Request& request, Response& response) {
    explain(request, response, max_request_bytes);
  });
  server.set_exception_handler([](const Request&, Response& response, std::exception_ptr error) {
    std::fprintf(stderr, "pagoda: a request failed: %s\n", error_text(error).c_str());
    response.status = 500;
  });
  server.set_logger([&service](const Request&, const Response& response) {
    service.count_request(response.status);
  });
}

bool make_plain(httplib::Request& request) {
  request.headers.erase("Content-Encoding");
  if (request.is_multipart_form_data()) request.headers.erase("Content-Type");
  request.ranges.clear();
  const std::size_t lengths = request.get_header_value_count("Content-Length");
  const bool is_chunked = request.has_header("Transfer-Encoding");
  const bool has_body = request.method == "POST" || request.method == "PUT" ||
                        request.method == "PATCH" || request.method == "DELETE";
  if (has_body && lengths == 0 && !is_chunked) request.set_header("Content-Length", "0");
  const std::string length = request.get_header_value("Content-Length");
  if (length.find_first_not_of("0123456789") != std::string::npos) return false;
  return has_body ? lengths + (is_chunked ? 1 : 0) <= 1 : lengths == 0 && !is_chunked;
}

}  // namespace pagoda::app
