#pragma once

namespace pagoda::app {

/// The page of a server, whole: a text box, the translations, and what they looked at.
extern const char* const kPage;

}  // namespace pagoda::app
