#include <pagoda/base/byte_size.h>
#include <pagoda/base/error.h>
#include <pagoda/cli/number_checks.h>
#include <pagoda/run/interval.h>
#include <pagoda/text/sequence_plan.h>

#include "fuzz/fuzz_target.h"
#include "run/layer_list.h"
#include "run/rate_factor.h"

namespace pagoda::fuzz {
namespace flag_texts_fuzz {

/// What `parse` makes of the text; "refused" where it takes another form.
template <class Parse>
std::string result_of(Parse parse) {
  try {
    return parse() + "\n";
  } catch (const UsageError& error) {
    require(std::string_view(error.what()).find('\0') == std::string_view::npos, "a cut message");
    return "refused\n";
  }
}

std::string interval(const std::string& text) {
  const Interval read = parse_interval(text);
  require(read.count >= 0 && read.count < 1e15, "an interval is negative, or absurd");
  const bool is_due = read.is_due(12, {.epoch = 2, .consumed = 0}, 6);
  require(!is_due || read.count > 0, "an interval of 0 is due");
  const std::string written = interval_text(read);
  require(parse_interval(written) == read, "an interval is another one when written");
  return written;
}

std::string steps(const std::string& text) {
  const StepRange read = parse_steps(text);
  require(read.first >= 1 && read.last >= read.first, "steps are not a range");
  const std::string written = steps_text(read);
  require(parse_steps(written) == read, "steps are other ones when written");
  return written;
}

std::string bytes(const std::string& text) {
  const std::int64_t count = parse_bytes(text);
  require(count >= 1, "a size is not positive");
  return bytes_text(count);
}

std::string buckets(const std::string& text) {
  std::string found;
  for (const auto& [source, target] : parse_buckets(text)) {
    require(source >= 1 && target >= 1, "a bucket is for no token");
    found += std::to_string(source) + ":" + std::to_string(target) + ",";
  }
  return found;
}

std::string layers(const std::string& text) {
  const std::vector<int> read = parse_layers(text);
  const std::string written = layers_text(read);
  require(parse_layers(written) == read, "layers are other ones when written");
  return written;
}

std::string rate_factor(const std::string& text) {
  const RateFactor read = parse_rate_factor(text);
  require(!read.names.empty() && read.factor >= 0, "a factor for nothing, or below 0");
  const std::string written = rate_factor_text(read);
  require(rate_factor_text(parse_rate_factor(written)) == written,
          "a factor is another one when written");
  return written;
}

/// A text as it follows a flag of the command line.
std::string read(std::string_view input) {
  const std::string text(input);
  std::string found;
  for (const auto parse :
       {&interval, &steps, &bytes, &buckets, &layers, &rate_factor, &parse_names})
    found += result_of([&] { return parse(text); });
  for (const auto& check :
       {count(), count_or_none(), positive_seconds(), any_whole_number(), whole_number(2, 7)}) {
    std::string checked = text;
    found += check(checked) + "\n";
    require(checked == text, "a check changed the text");
  }
  return found;
}

const Registration registration{{"flag_texts", &read}};

}  // namespace flag_texts_fuzz
}  // namespace pagoda::fuzz
