"""Several machines train one model: network namespaces, links of a given rate, cables that are pulled, frozen processes.

    PAGODA_PROGRAM=build/pagoda python3 tests/machines/machines_test.py [TwoMachinesTest]

Takes root; without it, everything is skipped.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))

from namespaces import Machines, why_not
from program import PROGRAM, TIMEOUT_SECONDS
from results import result_of

WHY_NOT = why_not()
PORT = 29500  # of each namespace, where nobody else is
TRAIN = ["train", "lenet5", "--batch-size", 4, "--log-every", 1, "--devices", 1]
RUN = [*TRAIN, "--max-steps", 6, "--save-every", 2, "--valid-every", 3, "--ema", 0.9]
STEP_TIMEOUT = 2
STORE_SECONDS = 10  # that the store may take to answer
SPARE_SECONDS = 20  # this machine may be busy


class Ended:
    def __init__(self, process):
        self.stdout, self.stderr = process.communicate(timeout=TIMEOUT_SECONDS)
        self.code = process.returncode
        self.last_line = (self.stderr.splitlines() or [""])[-1]


def start(machines, machine, arguments, *, rank, size, master, join_timeout=60, **variables):
    place = ["--rank", rank, "--world-size", size, "--master", master, "--join-timeout", join_timeout]
    return machines.start(machine, [PROGRAM, *arguments, *place], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=os.environ | variables)


def start_all(machines, *arguments, network=0, **variables):
    """A rank on each machine; rank 0 on the first is the master."""
    master = f"{machines.address(0, network)}:{PORT}"
    return [start(machines, rank, arguments, rank=rank, size=len(machines.names), master=master, **variables)
            for rank in range(len(machines.names))]


@unittest.skipIf(WHY_NOT, WHY_NOT)
class MachinesTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="pagoda-test-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def machines(self, count, **options):
        return self.enterContext(Machines(count, **options))

    def train(self, name, machines, **where):
        """A run on all machines, in a directory of that name; what rank 0 says."""
        out = self.scratch / name
        ended = [Ended(rank) for rank in start_all(machines, *RUN, "--out", out, **where)]
        for rank in ended:
            self.assertEqual(rank.code, 0, rank.stderr)
        return out, ended[0].stderr

    def train_on_one_machine(self, machines):
        size = len(machines.names)
        out = self.scratch / "one machine"
        ranks = [start(machines, 0, [*RUN, "--out", out], rank=rank, size=size, master=f"127.0.0.1:{PORT}")
                 for rank in range(size)]
        for rank in map(Ended, ranks):
            self.assertEqual(rank.code, 0, rank.stderr)
        return out

    def begin(self, machines):
        """A training without end, in the middle of it. Its links are slow, so that nearly all of its time is exchange."""
        ranks = start_all(machines, *TRAIN, "--max-steps", 100_000, "--step-timeout", STEP_TIMEOUT)
        for line in ranks[0].stderr:
            if ", step 2/" in line:
                return ranks
        self.fail(f"it did not begin: {ranks[0].wait()}")

    def expect_ends(self, ranks, expected, seconds):
        """Every rank ends with exit code 1 and its line, within so many seconds."""
        end = time.monotonic() + seconds + SPARE_SECONDS
        for number, (rank, line) in enumerate(zip(ranks, expected)):
            try:
                rank.wait(timeout=max(0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.fail(f"rank {number} has not ended after {seconds} s")
            ended = Ended(rank)
            self.assertEqual(ended.code, 1, ended.stderr)
            self.assertRegex(ended.last_line, line)


STORE_IS_GONE = r"^pagoda: the store at \S+ is gone or does not answer: rank 0 \(a\) or its launcher"


class TwoMachinesTest(MachinesTest):
    def test_they_end_in_the_same_bits_as_one_and_take_the_network_on_which_the_master_is(self):
        machines = self.machines(2, rate="1gbit", networks=2)
        out, log = self.train("two machines", machines, network=1)
        self.assertIn("2 processes; this is rank 0 (a) at 10.77.1.1", log)
        self.assertEqual(result_of(out), result_of(self.train_on_one_machine(machines)))
        first, second = (machines.bytes_sent(1, network) for network in range(2))
        self.assertLess(first, 1e4)
        self.assertGreater(second, 6 * 1e6)  # gradients of 6 steps

    def test_all_end_when_a_cable_is_pulled_in_the_middle_of_an_exchange(self):
        machines = self.machines(2, rate="100mbit")
        ranks = self.begin(machines)
        machines.cut(1)
        self.expect_ends(ranks, [r"^pagoda: rank 1 \(b\) is gone or does not answer$", STORE_IS_GONE],
                         STEP_TIMEOUT + STORE_SECONDS)


class MoreMachinesTest(MachinesTest):
    """Takes a minute or two; `make machines`."""

    def test_three_machines_on_slow_links_end_in_the_same_bits_as_one(self):
        machines = self.machines(3, rate="100mbit")
        out, _ = self.train("three machines", machines)
        self.assertEqual(result_of(out), result_of(self.train_on_one_machine(machines)))

    def test_a_named_interface_goes_before_the_route(self):
        machines = self.machines(2, networks=2)
        _, log = self.train("named", machines, network=0, GLOO_SOCKET_IFNAME="eth1")
        self.assertIn("this is rank 0 (a) at 10.77.1.1", log)
        self.assertLess(machines.bytes_sent(1, 0), 1e6)
        self.assertGreater(machines.bytes_sent(1, 1), 6 * 1e6)

    def test_a_third_machine_that_is_cut_off_is_named_by_the_others(self):
        machines = self.machines(3, rate="100mbit")
        ranks = self.begin(machines)
        machines.cut(2)
        gone = r"^pagoda: rank 2 \(c\) is gone or does not answer$"
        self.expect_ends(ranks, [gone, gone, STORE_IS_GONE], STEP_TIMEOUT + STORE_SECONDS)

    def test_all_end_when_the_masters_machine_is_cut_off(self):
        machines = self.machines(3, rate="100mbit")
        ranks = self.begin(machines)
        machines.cut(0)
        self.expect_ends(ranks, [r"^pagoda: rank 1 \(b\), rank 2 \(c\) are gone or do not answer$", STORE_IS_GONE,
                                 STORE_IS_GONE], STEP_TIMEOUT + STORE_SECONDS)

    def test_a_link_that_comes_back_in_time_is_no_failure(self):
        machines = self.machines(2, rate="100mbit")
        ranks = start_all(machines, *TRAIN, "--max-steps", 4, "--step-timeout", 60)
        for line in ranks[0].stderr:
            if ", step 1/" in line:
                break
        machines.cut(1)
        time.sleep(1)
        machines.mend(1)
        for rank in map(Ended, ranks):
            self.assertEqual(rank.code, 0, rank.stderr)

    def test_a_frozen_process_is_named(self):
        for victim, others in ((1, r"^pagoda: rank 1 \(b\) is gone or does not answer$"), (0, STORE_IS_GONE)):
            with self.subTest(victim=victim):
                machines = self.machines(2, rate="100mbit")
                ranks = self.begin(machines)
                ranks[victim].send_signal(signal.SIGSTOP)
                self.expect_ends([ranks[1 - victim]], [others], STEP_TIMEOUT + STORE_SECONDS)
                ranks[victim].send_signal(signal.SIGCONT)
                self.expect_ends([ranks[victim]], ["^pagoda: "], STEP_TIMEOUT + STORE_SECONDS)

    def test_a_wrong_start_is_one_line_within_its_deadline(self):
        machines = self.machines(2)
        a = machines.address(0)
        cases = {  # who starts which rank with which master, and what each says
            "a host without a name": [(1, 1, "nowhere.invalid:29500", "'nowhere.invalid', is unknown here")],
            "a host that is not there": [(1, 1, f"10.77.0.99:{PORT}", "rank 1 cannot reach rank 0 at 10.77.0.99:29500")],
            "a host without a way to it": [(1, 1, f"10.99.0.1:{PORT}", "there is no way to the machine of rank 0")],
            "a port where nobody is": [(0, 0, f"{a}:{PORT}", "rank 0 of 2 waited 2 s at .* for rank 1"),
                                       (1, 1, f"{a}:{PORT + 1}", "rank 1 cannot reach rank 0")],
            "a rank that never comes": [(0, 0, f"{a}:{PORT}", "rank 0 of 2 waited 2 s at .* for rank 1; were all processes")],
            "no rank 0": [(1, 1, f"{a}:{PORT}", "rank 1 cannot reach rank 0 at .*; is rank 0 running there")],
            "two with one rank": [(0, 0, f"{a}:{PORT}", "rank 0 .*"), (0, 0, f"{a}:{PORT}", "rank 0 .*")],
        }
        for name, starts in cases.items():
            with self.subTest(name):
                ranks = [start(machines, machine, TRAIN, rank=rank, size=2, master=master, join_timeout=2)
                         for machine, rank, master, _ in starts]
                self.expect_ends(ranks, [line for *_, line in starts], 2 + STORE_SECONDS)

    def test_a_stranger_on_the_port_who_does_not_answer_is_not_waited_for(self):
        machines = self.machines(2)
        listen = "import socket, time; s = socket.create_server(('', 29500)); print('here', flush=True); time.sleep(600)"
        stranger = machines.start(0, [sys.executable, "-c", listen], stdout=subprocess.PIPE, text=True)
        self.assertEqual(stranger.stdout.readline(), "here\n")
        rank = start(machines, 1, TRAIN, rank=1, size=2, master=f"{machines.address(0)}:{PORT}", join_timeout=2)
        self.expect_ends([rank], ["cannot reach rank 0 at .*: somebody accepts connections there, but does not answer;"],
                         2 + STORE_SECONDS)

    def test_ranks_end_when_their_launcher_is_killed(self):
        torchrun = pathlib.Path(sys.executable).with_name("torchrun")
        if not torchrun.exists():
            self.skipTest("no torchrun")
        command = [torchrun, "--no-python", "--nproc-per-node", 2, "--master-port", PORT, PROGRAM, *TRAIN, "--max-steps",
                   1_000_000]
        agent = self.machines(1).start(0, command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in agent.stderr:
            if ", step 2/" in line:
                break
        agent.kill()
        rest = agent.stderr.read()  # until the last rank has closed it
        self.assertEqual(len(re.findall(STORE_IS_GONE, rest, re.MULTILINE)), 2, rest[-1000:])

    def test_two_runs_on_one_port_do_not_mix(self):
        machines = self.machines(2)
        begun = start_all(machines, *TRAIN, "--max-steps", 100_000)
        for line in begun[0].stderr:
            if ", step 1/" in line:
                break
        late = start_all(machines, *TRAIN, "--max-steps", 100_000, join_timeout=3)
        self.expect_ends(late, ["rank 0 cannot serve the others at .*another run may use the port",
                                "the processes there are complete without it; is another run using"], 3 + STORE_SECONDS)
        for rank in begun:
            self.assertIsNone(rank.poll(), "the run that was there goes on")
            rank.send_signal(signal.SIGTERM)
        for rank in begun:
            self.assertEqual(Ended(rank).code, 143)


if __name__ == "__main__":
    unittest.main()
