#pragma once

#include <string>
#include <string_view>

namespace pagoda {

/// The text with each byte that is not part of valid UTF-8 (RFC 3629) replaced by U+FFFD. Other
/// bytes in a text field of protobuf make TensorBoard stop at that event.
std::string valid_utf8(std::string_view text);

}  // namespace pagoda
