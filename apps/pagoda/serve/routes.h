#pragma once

#include <cstddef>
#include <httplib.h>

#include "serve/service.h"

namespace pagoda::app {

/// Which request goes where, and what is answered to all others: {"error": "…"} with 400, 404, 405 or
/// 413. The server refers to the service from then on.
void add_routes(httplib::Server& server, TranslationService& service,
                std::size_t max_request_bytes);

/// Leaves out of a request what we have no use for and httplib would act on: compression, forms in
/// parts, ranges. False: where the next request begins is not certain, so this must be the last.
bool make_plain(httplib::Request& request);

}  // namespace pagoda::app
