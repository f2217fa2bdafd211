#include <pagoda/base/version.h>
#include <pagoda/doctor/machine_facts.h>

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

namespace pagoda {
namespace machine_facts_test {

TEST(MachineFactsTest, AreThoseOfThisMachine) {
  const MachineFacts facts = machine_facts();
  EXPECT_EQ(facts.libtorch_loaded, libtorch_version());
  EXPECT_NE(facts.libtorch_file.find("libtorch_cpu"), std::string::npos) << facts.libtorch_file;
  EXPECT_GE(facts.machine_cpus, facts.allowed_cpus);
  EXPECT_GE(facts.allowed_cpus, facts.usable_cores);
  EXPECT_GE(facts.usable_cores, 1);
  EXPECT_GT(facts.memory_available, 0);
  EXPECT_GE(facts.memory_bytes, facts.memory_available);
  EXPECT_GT(facts.open_files, 0);
  EXPECT_TRUE(facts.working.writable);
}

TEST(MachineFactsTest, ATemporaryDirectoryThatIsNotThereCannotBeWritten) {
  setenv("TMPDIR", "/no/such/directory", 1);
  const DirectoryFacts temporary = machine_facts().temporary;
  unsetenv("TMPDIR");
  EXPECT_EQ(temporary.path, "/no/such/directory");
  EXPECT_FALSE(temporary.writable);
}

}  // namespace machine_facts_test
}  // namespace pagoda
