#include "bench/choice_report.h"

#include <pagoda/base/json.h>
#include <pagoda/cli/run_flags.h>
#include <pagoda/terminal/text_table.h>

namespace pagoda::app {
namespace {

const LinkCost& cost_of(const Choice& choice, const Standing& standing) {
  return choice.costs[static_cast<std::size_t>(standing.contender)];
}

void add_object(JsonWriter& json, const ComparedChoice& compared, const Standing& standing) {
  const Way& way = compared.choice.way(standing);
  json.begin_object();
  json.key("way").value(way.name());
  json.key("samples_per_second").value(standing.rate);
  json.key("low").value(standing.low).key("high").value(standing.high);
  json.key("relative").value(compared.relative(standing));
  json.key("rounds").value(static_cast<std::int64_t>(standing.rounds));
  if (way.together) {
    const LinkCost& cost = cost_of(compared.choice, standing);
    json.key("wire").value(wire_name(way.together->wire));
    json.key("sync_every").value(static_cast<std::int64_t>(way.together->sync_every));
    json.key("same_numbers").value(way.together->keeps_numbers());
    json.key("bytes_sent_a_step").value(cost.bytes);
    json.key("milliseconds_waited_a_step").value(1000 * cost.seconds);
  }
  json.end_object();
}

}  // namespace

std::string choice_table(const ComparedChoice& compared) {
  const Choice& choice = compared.choice;
  const bool together = choice.winner().together.has_value();
  const bool to_best = &compared.unit == &choice.standings.front();
  std::vector<std::vector<std::string>> cells{
      {"way", "samples/s", "95 % interval", to_best ? "of the best" : "speed-up", "rounds"}};
  if (together) cells[0].insert(cells[0].end(), {"sent a step", "waited a step"});
  for (const Standing& standing : choice.standings) {
    cells.push_back({choice.way(standing).name(), grouped(standing.rate),
                     grouped(standing.low) + " - " + grouped(standing.high),
                     grouped(compared.relative(standing), 3), std::to_string(standing.rounds)});
    if (!together) continue;
    const LinkCost& cost = cost_of(choice, standing);
    cells.back().push_back(bytes_text(static_cast<std::int64_t>(cost.bytes)));
    cells.back().push_back(grouped(1000 * cost.seconds, 1) + " ms");
  }
  return text_table(cells);
}

std::string choice_json(const std::vector<ComparedChoice>& all) {
  JsonWriter json;
  json.begin_array();
  for (const ComparedChoice& compared : all) {
    for (const Standing& standing : compared.choice.standings) add_object(json, compared, standing);
  }
  json.end_array();
  return json.text() + "\n";
}

}  // namespace pagoda::app
