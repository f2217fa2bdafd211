"""Machines on one machine: network namespaces, each with a host name, its addresses and links of a given rate.

    with Machines(2, rate="100mbit") as machines:
        ranks = [machines.start(m, [PROGRAM, …, "--master", f"{machines.address(0)}:29500"]) for m in range(2)]
        machines.cut(1)

All machines hang on a switch, which is a bridge in a namespace of its own: nothing of the host's network is touched, and
the addresses exist in these namespaces alone. With the namespaces everything goes; what a killed process has left, the next
one removes.
"""
import contextlib
import itertools
import os
import pathlib
import re
import signal
import subprocess
import tempfile

PREFIX = "pagoda-"
QUEUE_BYTES = 256 * 1024  # as much as a switch's port holds


def ip(*arguments, space=None):
    inside = ["-netns", space] if space else []
    subprocess.run(["ip", *inside, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def why_not():
    """Why this system has no namespaces to work with; empty: it has."""
    if os.geteuid() != 0:
        return "network namespaces take root"
    name = f"{PREFIX}{os.getpid()}-try"
    try:
        ip("netns", "add", name)
        try:
            ip("link", "add", "try", "type", "bridge", space=name)
        finally:
            ip("netns", "del", name)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no network namespaces here: {error}"
    return ""


def remove(space):
    """With all processes in it: some may have outlived those that started them."""
    inside = subprocess.run(["ip", "netns", "pids", space], check=True, capture_output=True, text=True).stdout
    for pid in inside.split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    ip("netns", "del", space)


def remove_leftovers():
    """The namespaces of processes that are gone."""
    listed = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True).stdout
    for name in re.findall(rf"^{PREFIX}\d+-\S+", listed, re.MULTILINE):
        if not pathlib.Path("/proc", name.split("-")[1]).exists():
            remove(name)


class Machines:
    """Up to 26 machines, called a, b, c, …, each with one link to each of the networks, and a file that programs see as
    /etc/hosts, so that machines know each other's names. `rate` is that of each link in both directions, in tc's words;
    without it links are as fast as memory."""

    groups = itertools.count()  # of this process

    def __init__(self, count, *, rate=None, networks=1):
        self.group = next(self.groups)
        self.names = [chr(ord("a") + machine) for machine in range(count)]
        self.rate = rate
        self.networks = networks
        self.processes = []
        self.made = []
        self.scratch = None

    def __enter__(self):
        try:
            remove_leftovers()
            self.scratch = tempfile.TemporaryDirectory(prefix="pagoda-machines-")
            hosts = "".join(f"{self.address(machine)} {name}\n" for machine, name in enumerate(self.names))
            self.hosts = pathlib.Path(self.scratch.name, "hosts")
            self.hosts.write_text("127.0.0.1 localhost\n" + hosts)
            for name in ["switch", *self.names]:
                self.make(name)
            for network in range(self.networks):
                ip("link", "add", f"net{network}", "up", "type", "bridge", space=self.space("switch"))
                for machine in range(len(self.names)):
                    self.connect(machine, network)
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
        for name in self.made:
            remove(self.space(name))
        self.made.clear()
        if self.scratch:
            self.scratch.cleanup()

    def space(self, name):
        return f"{PREFIX}{os.getpid()}-{self.group}-{name}"

    def make(self, name):
        ip("netns", "add", self.space(name))
        self.made.append(name)
        ip("link", "set", "lo", "up", space=self.space(name))
        # Linux's default, whatever this machine has: BBR would send next to nothing for 200 ms in every 10 s.
        subprocess.run(["ip", "netns", "exec", self.space(name), "sh", "-c",
                        "echo cubic > /proc/sys/net/ipv4/tcp_congestion_control"], check=False)

    def connect(self, machine, network):
        own, port = f"eth{network}", self.port(machine, network)
        ip("link", "add", own, "netns", self.space(self.names[machine]), "type", "veth", "peer", "name", port, "netns",
           self.space("switch"))
        ip("link", "set", port, "master", f"net{network}", "up", space=self.space("switch"))
        ip("address", "add", f"{self.address(machine, network)}/24", "dev", own, space=self.space(self.names[machine]))
        ip("link", "set", own, "up", space=self.space(self.names[machine]))
        if self.rate:
            self.set_rate(self.rate, machine, network)

    def set_rate(self, rate, machine, network=0):
        """Of a link, from now on."""
        for space, link in ((self.names[machine], f"eth{network}"), ("switch", self.port(machine, network))):
            subprocess.run(["tc", "-netns", self.space(space), "qdisc", "replace", "dev", link, "root", "tbf", "rate", rate,
                            "burst", str(QUEUE_BYTES), "limit", str(2 * QUEUE_BYTES)], check=True)

    def port(self, machine, network):
        """The switch's side of a link."""
        return f"{self.names[machine]}{network}"

    def address(self, machine, network=0):
        return f"10.77.{network}.{machine + 1}"

    def command(self, machine, command):
        """Runs a command on a machine, in the same process."""
        setup = f'mount --bind {self.hosts} /etc/hosts && hostname {self.names[machine]} && exec "$@"'
        return ["ip", "netns", "exec", self.space(self.names[machine]), "unshare", "--uts", "sh", "-c", setup, "sh",
                *map(str, command)]

    def start(self, machine, command, **options):
        """As subprocess.Popen; killed at the end at the latest."""
        process = subprocess.Popen(self.command(machine, command), **options)
        self.processes.append(process)
        return process

    def cut(self, machine, network=0):
        """Pulls the cable."""
        ip("link", "set", self.port(machine, network), "down", space=self.space("switch"))

    def mend(self, machine, network=0):
        ip("link", "set", self.port(machine, network), "up", space=self.space("switch"))

    def bytes_sent(self, machine, network=0):
        """By a machine's link so far, with the network's own headers."""
        counter = f"/sys/class/net/eth{network}/statistics/tx_bytes"
        return int(subprocess.run(["ip", "netns", "exec", self.space(self.names[machine]), "cat", counter], check=True,
                                  capture_output=True, text=True).stdout)
