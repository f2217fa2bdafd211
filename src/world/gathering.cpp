#include "world/gathering.h"

#include <pagoda/world/world.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <thread>

#include "world/answer_limit.h"

namespace pagoda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kFirstPause = std::chrono::milliseconds(2);
constexpr auto kLongestPause = std::chrono::milliseconds(200);
constexpr const char* kStarts = "pagoda/starts";

std::string new_token() {
  std::random_device random;
  return std::to_string(random()) + "-" + std::to_string(random());
}

/// One process, as it greets rank 0: "size token host".
struct Greeting {
  int size = 0;
  std::string token;
  std::string host;

  std::string text() const { return std::to_string(size) + " " + token + " " + host; }
  static Greeting read(const std::string& text) {
    Greeting greeting;
    std::istringstream(text) >> greeting.size >> greeting.token >> greeting.host;
    return greeting;
  }
};

class Gathering {
 public:
  Gathering(c10d::Store& store, const WorldPlace& place, const std::string& host,
            std::chrono::milliseconds timeout)
      : store_(store),
        place_(place),
        own_{place.size, new_token(), host},
        timeout_(timeout),
        end_(Clock::now() + timeout) {}

  /// As rank 0.
  Gathered lead() {
    const std::string prefix = prefix_of(store_.add(kStarts, 1));
    std::vector<Greeting> all{own_};
    for (int rank = 1; rank < place_.size; ++rank) {
      const std::string key = greeting_key(prefix, rank);
      while (!store_.check({key})) pause([&] { return missing(prefix); });
      all.push_back(Greeting::read(store_.get_to_str(key)));
    }
    std::string answer;
    for (const Greeting& one : all) answer += one.text() + "\n";
    store_.set(prefix + "all", answer);
    return checked(prefix, all);
  }

  /// As any other.
  Gathered follow() {
    std::int64_t greeted = 0;
    while (true) {
      const std::int64_t start = store_.add(kStarts, 0);
      const std::string prefix = prefix_of(start);
      if (start > greeted) {
        store_.set(greeting_key(prefix, place_.rank), own_.text());
        greeted = start;
      }
      if (start > 0 && store_.check({prefix + "all"})) {
        const auto all = read_all(store_.get_to_str(prefix + "all"));
        const auto own = static_cast<std::size_t>(place_.rank);
        if (own < all.size() && all[own].token == own_.token) return checked(prefix, all);
      }
      pause([&] { return unanswered(start, prefix); });
    }
  }

 private:
  static std::string prefix_of(std::int64_t start) {
    return "pagoda/" + std::to_string(start) + "/";
  }
  static std::string greeting_key(const std::string& prefix, int rank) {
    return prefix + "rank/" + std::to_string(rank);
  }

  static std::vector<Greeting> read_all(const std::string& text) {
    std::vector<Greeting> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) all.push_back(Greeting::read(line));
    return all;
  }

  template <class Text>
  void pause(Text problem) {
    if (Clock::now() >= end_) throw WorldError(problem());
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(2 * pause_, kLongestPause);  // hundreds of processes ask one store
  }

  Gathered checked(const std::string& prefix, const std::vector<Greeting>& all) const {
    Gathered gathered{.prefix = prefix, .hosts = {}};
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (all[rank].size != all[0].size) {
        throw WorldError("rank " + std::to_string(rank) + " (" + all[rank].host +
                         ") was started as one of " + std::to_string(all[rank].size) +
                         " processes, rank 0 (" + all[0].host + ") as one of " +
                         std::to_string(all[0].size) + "; give all the same number of processes");
      }
      gathered.hosts.push_back(all[rank].host);
    }
    return gathered;
  }

  std::string waited() const {
    std::ostringstream text;
    text << "rank " << place_.rank << " of " << place_.size << " waited "
         << std::chrono::duration<double>(timeout_).count() << " s at " << place_.master << ":"
         << place_.port;
    return text.str();
  }

  std::string missing(const std::string& prefix) const {
    std::string ranks;
    for (int rank = 1; rank < place_.size; ++rank) {
      if (!store_.check({greeting_key(prefix, rank)}))
        ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
    }
    return waited() + " for rank " + ranks + "; were all processes started, with the same master?";
  }

  std::string unanswered(std::int64_t start, const std::string& prefix) const {
    if (start == 0) return waited() + " for rank 0, which has not come";
    if (store_.check({prefix + "all"})) {
      return waited() +
             ", but the processes there are complete without it; is another run using "
             "this port, or has another process the same rank?";
    }
    return waited() + " for rank 0, which itself waits for others";
  }

  c10d::Store& store_;
  const WorldPlace& place_;
  const Greeting own_;
  const std::chrono::milliseconds timeout_;
  const Clock::time_point end_;
  std::chrono::milliseconds pause_ = kFirstPause;
};

}  // namespace

Gathered gather_ranks(c10d::Store& store, const WorldPlace& place, const std::string& host,
                      std::chrono::milliseconds timeout) {
  limit_answers(store);
  Gathering gathering(store, place, host, timeout);
  try {
    return place.rank == 0 ? gathering.lead() : gathering.follow();
  } catch (const WorldError&) {
    throw;
  } catch (const std::exception&) {
    throw WorldError("rank " + std::to_string(place.rank) + " of " + std::to_string(place.size) +
                     " has lost the store at " + place.master + ":" + std::to_string(place.port) +
                     " while it waited for the others: rank 0 or its launcher has ended, or the "
                     "network is cut");
  }
}

}  // namespace pagoda
