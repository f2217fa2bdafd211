#include <pagoda/doctor/finding.h>

#include <algorithm>

#include <gtest/gtest.h>

namespace pagoda {
namespace finding_test {

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;

/// A machine of which nothing is wrong, without cards.
MachineFacts sound_machine() {
  MachineFacts facts{.libtorch_built = "2.13.0",
                     .libtorch_loaded = "2.13.0",
                     .libtorch_file = "/lib/libtorch_cpu.so",
                     .processor = "Some CPU",
                     .machine_cpus = 4,
                     .allowed_cpus = 4,
                     .usable_cores = 2,
                     .simd = "AVX2",
                     .memory_bytes = 8 * kGibibyte,
                     .memory_available = 4 * kGibibyte,
                     .tensorboard = "/bin/tensorboard",
                     .open_files = 1024};
  facts.temporary = {.path = "/tmp", .writable = true, .free_bytes = kGibibyte};
  facts.working = {.path = "/home", .writable = true, .free_bytes = kGibibyte};
  return facts;
}

/// The same with so many cards that work.
MachineFacts with_cards(int cards) {
  MachineFacts facts = sound_machine();
  facts.cuda = {.cards_in_machine = cards,
                .driver_found = true,
                .driver_cuda = "12.4",
                .driver_cards = std::vector<std::string>(static_cast<std::size_t>(cards), "A10"),
                .libtorch_has_cuda = true,
                .libtorch_cards = cards,
                .nccl = true};
  return facts;
}

Finding about(const MachineFacts& facts, const std::string& subject) {
  const auto findings = examine(facts);
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& one) { return one.subject == subject; });
  return found == findings.end() ? Finding{.subject = "missing", .text = {}} : *found;
}

bool says(const Finding& finding, const std::string& words) {
  return (finding.text + " | " + finding.remedy).find(words) != std::string::npos;
}

TEST(FindingTest, NothingIsWrongOfSoundMachines) {
  for (const MachineFacts& facts : {sound_machine(), with_cards(1), with_cards(2)}) {
    for (const Finding& finding : examine(facts)) {
      EXPECT_EQ(finding.health, Health::fine) << finding.subject << ": " << finding.text;
      EXPECT_EQ(finding.remedy, "") << finding.subject;
      EXPECT_NE(finding.text, "") << finding.subject;
    }
  }
  EXPECT_TRUE(says(about(with_cards(2), "CUDA"), "2 cards, driver for CUDA 12.4: A10; A10"));
}

TEST(FindingTest, AnotherLibTorchThanTheOneBuiltWithIsWrong) {
  MachineFacts facts = sound_machine();
  facts.libtorch_loaded = "2.13.0+cpu";
  EXPECT_EQ(about(facts, "LibTorch").health, Health::fine) << "the same, but for its kind";
  facts.libtorch_loaded = "2.9.1";
  EXPECT_EQ(about(facts, "LibTorch").health, Health::wrong);
  EXPECT_TRUE(says(about(facts, "LibTorch"), "pip install torch==2.13.0"));
  facts.libtorch_loaded = "";
  EXPECT_EQ(about(facts, "LibTorch").health, Health::fine) << "it does not say";
}

TEST(FindingTest, CardsWithoutDriverAreWrong) {
  MachineFacts facts = sound_machine();
  facts.cuda.cards_in_machine = 1;
  EXPECT_EQ(about(facts, "CUDA").health, Health::wrong);
  EXPECT_TRUE(says(about(facts, "CUDA"), "1 NVIDIA card in"));
  facts.cuda.driver_found = true;
  facts.cuda.driver_error = 999;
  EXPECT_EQ(about(facts, "CUDA").health, Health::wrong);
  EXPECT_TRUE(says(about(facts, "CUDA"), "error 999"));
  facts.cuda.cards_in_machine = 0;
  EXPECT_EQ(about(facts, "CUDA").health, Health::note) << "a driver without cards harms nobody";
}

TEST(FindingTest, CardsThatAMaskHidesAreNoted) {
  for (const char* mask : {"", "-1"}) {
    MachineFacts facts = sound_machine();
    facts.cuda = {.cards_in_machine = 2, .driver_found = true, .driver_error = 100, .mask = mask};
    EXPECT_EQ(about(facts, "CUDA").health, Health::note);
    EXPECT_EQ(about(facts, "CUDA").remedy, "unset CUDA_VISIBLE_DEVICES");
  }
}

TEST(FindingTest, CardsThatLibTorchCannotUseAreWrong) {
  MachineFacts facts = with_cards(2);
  facts.cuda.libtorch_cards = 0;
  EXPECT_EQ(about(facts, "CUDA").health, Health::wrong);
  EXPECT_TRUE(says(about(facts, "CUDA"), "a LibTorch for CUDA 12.4 or older"));
  facts.cuda.libtorch_has_cuda = false;
  EXPECT_TRUE(says(about(facts, "CUDA"), "built without CUDA"));
  facts = with_cards(2);
  facts.cuda.driver_cards[1] = "";
  EXPECT_EQ(about(facts, "CUDA").health, Health::wrong);
  EXPECT_TRUE(says(about(facts, "CUDA"), "does not answer"));
}

TEST(FindingTest, NcclIsMissedBySeveralCardsOnly) {
  for (const int cards : {0, 1, 2}) {
    MachineFacts facts = with_cards(cards);
    facts.cuda.nccl = false;
    EXPECT_EQ(about(facts, "NCCL").health, cards > 1 ? Health::note : Health::fine);
  }
}

TEST(FindingTest, FewerCoresThanTheMachineHasAreNoted) {
  MachineFacts facts = sound_machine();
  facts.allowed_cpus = 1;
  facts.usable_cores = 1;
  EXPECT_EQ(about(facts, "cores").health, Health::note);
  EXPECT_TRUE(says(about(facts, "cores"), "1 core for towers, 1 of 4 hardware threads"));
  facts = sound_machine();
  facts.quota_cpus = 4;
  EXPECT_EQ(about(facts, "CPU quota").health, Health::fine);
  facts.quota_cpus = 1;
  EXPECT_EQ(about(facts, "CPU quota").health, Health::note);
  EXPECT_TRUE(says(about(facts, "CPU quota"), "time of 1 CPU, less than the 4"));
}

TEST(FindingTest, AForcedSimdLevelIsNoted) {
  MachineFacts facts = sound_machine();
  facts.simd_forced = "default";
  EXPECT_EQ(about(facts, "SIMD").remedy, "unset ATEN_CPU_CAPABILITY");
  facts.fast_bf16 = true;
  EXPECT_TRUE(says(about(facts, "SIMD"), "AVX2, fast in bf16, slow in fp16"));
}

TEST(FindingTest, LittleMemoryIsWrong) {
  MachineFacts facts = sound_machine();
  facts.memory_available = kGibibyte - 1;
  EXPECT_EQ(about(facts, "memory").health, Health::wrong);
  EXPECT_FALSE(says(about(facts, "memory"), "container"));
  facts.memory_limit = kGibibyte;
  EXPECT_TRUE(says(about(facts, "memory"), "container"));
}

TEST(FindingTest, DirectoriesThatAreFullOrCannotBeWrittenAreWrong) {
  MachineFacts facts = sound_machine();
  facts.temporary.writable = false;
  EXPECT_EQ(about(facts, "temporary files").health, Health::wrong);
  EXPECT_TRUE(says(about(facts, "temporary files"), "/tmp cannot be written"));
  EXPECT_TRUE(says(about(facts, "temporary files"), "export TMPDIR="));
  facts = sound_machine();
  facts.working.free_bytes = kGibibyte / 2 - 1;
  EXPECT_EQ(about(facts, "this directory").health, Health::wrong);
  EXPECT_TRUE(says(about(facts, "this directory"), "df -h /home"));
}

TEST(FindingTest, FewOpenFilesAreWrong) {
  MachineFacts facts = sound_machine();
  facts.open_files = 255;
  EXPECT_EQ(about(facts, "open files").health, Health::wrong);
  EXPECT_EQ(about(facts, "open files").remedy, "ulimit -n 4096");
}

TEST(FindingTest, AMissingTensorBoardIsNoted) {
  MachineFacts facts = sound_machine();
  facts.tensorboard = "";
  EXPECT_EQ(about(facts, "TensorBoard").health, Health::note);
}

}  // namespace finding_test
}  // namespace pagoda
