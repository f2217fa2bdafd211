#pragma once
// What happens to the calls that the program under test makes, and the log of them.
//
// Settings, all from the environment; without CHAOS_DIRECTORIES nothing is watched:
//   CHAOS_DIRECTORIES  directories, separated by colons; only calls on what lies in them count
//   CHAOS_LOG          file that gets a record for every counted call (log_record says which)
//   CHAOS_LOG_DATA     with any value: records of writes are followed by the written bytes
//   CHAOS_KILL         number of the change before which the process is killed
//   CHAOS_FAIL         KIND:NUMBER:HOW; KIND as in kind_name, HOW an errno's number or "cut" for a
//                      write of half the bytes; NUMBER+ for every call from there on that can fail so
//   CHAOS_BYTES        smallest allocation that counts; without it none does

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

namespace chaos {

/// Each kind of call is numbered on its own, from 1.
enum class Kind { change, look, thread, memory };

/// What a call does, as far as it decides which errors it can end with.
enum class Effect { none, opens, creates, writes, syncs };

struct Call {
  Kind kind;
  const char* name;
  Effect effect = Effect::none;
  std::string_view path = {};
  std::string_view second_path = {};
};

struct Verdict {
  long number = 0;
  int error = 0;        ///< errno that the call is to end with; 0: none
  bool is_cut = false;  ///< write only half
};

/// What a call did, for the log.
struct Done {
  bool succeeded = false;
  unsigned long inode = 0;
  long offset = -1;
  const void* data = nullptr;
  std::size_t bytes = 0;
};

/// Reads the settings; calls count from here on.
void begin_plan();

/// Whether calls count, in this thread and now: not within the library's own work.
bool is_counting();

bool is_watched(std::string_view path);

/// Numbers the call. Kills the process if this is the place to do so.
Verdict judge(const Call& call);

void log_record(const Call& call, const Verdict& verdict, const Done& done);

/// Held from the judging of a change to the end of its record: the log has the order of the changes.
std::recursive_mutex& order_of_changes();

/// Bytes; nothing counts that is smaller.
std::atomic<std::size_t>& smallest_counted_allocation();

/// Calls that the library itself makes meanwhile do not count.
class OwnWork {
 public:
  OwnWork();
  ~OwnWork();
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;
};

}  // namespace chaos
