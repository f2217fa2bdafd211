#include <pagoda/memory/cpu_memory.h>

#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include <c10/core/CPUAllocator.h>
#include <c10/core/alignment.h>
#include <c10/core/impl/alloc_cpu.h>

namespace pagoda {
namespace {

/// Kernels get no context of ours, so the owner of new memory has to be found by thread.
thread_local const std::shared_ptr<MemoryAccount>* this_threads_account = nullptr;

/// Stands in front of every block.
struct Note {
  std::shared_ptr<MemoryAccount> account;  // null: nobody is charged
  std::int64_t bytes;
};

constexpr std::size_t kNoteBytes = c10::gAlignment;  // keeps what follows aligned
static_assert(sizeof(Note) <= kNoteBytes);

void release(void* data) {
  if (data == nullptr) return;
  c10::profiledCPUMemoryReporter().Delete(data);
  auto* note = reinterpret_cast<Note*>(static_cast<char*>(data) - kNoteBytes);
  if (note->account) note->account->release(note->bytes);
  note->~Note();
  c10::free_cpu(note);
}

/// LibTorch's CPU allocator with a note in front of each block.
class NotingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &release, c10::Device(c10::kCPU)};
    const auto charged = static_cast<std::int64_t>(bytes);
    std::shared_ptr<MemoryAccount> account;
    if (this_threads_account != nullptr) {
      account = *this_threads_account;
      account->charge(charged);
    }
    void* block = nullptr;
    try {
      block = c10::alloc_cpu(bytes + kNoteBytes);
    } catch (...) {
      if (account) account->release(charged);
      throw;
    }
    new (block) Note{std::move(account), charged};
    void* data = static_cast<char*>(block) + kNoteBytes;
    c10::profiledCPUMemoryReporter().New(data, bytes);
    return {data, data, &release, c10::Device(c10::kCPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &release; }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

void install() {
  static std::once_flag installed;
  std::call_once(installed, [] {
    static auto& allocator = *new NotingAllocator;  // outlives every tensor
    constexpr std::uint8_t kAboveLibTorchs = 1;
    c10::SetCPUAllocator(&allocator, kAboveLibTorchs);
  });
}

}  // namespace

ChargeCpuMemory::ChargeCpuMemory(std::shared_ptr<MemoryAccount> account)
    : account_(std::move(account)), outer_(this_threads_account) {
  install();
  this_threads_account = &account_;
}

ChargeCpuMemory::~ChargeCpuMemory() { this_threads_account = outer_; }

}  // namespace pagoda
