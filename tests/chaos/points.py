"""The points of a scenario: each a crash or a failing call, with a short text that names it.

    kill:K               the process is killed before its change number K
    power:K:VARIANT      a power cut before change K (crash_states.py says what each variant leaves)
    change:K:EIO         change number K fails so; `cut` writes half; K+: so does every later call that can
    look:K:EIO           the same for the calls that read, look and close
    thread:K:EAGAIN      the K-th thread cannot be started
    memory:K:ENOMEM      the K-th large allocation is refused

Every change is killed before, and fails with EIO. A file is mostly written by many calls in a row, which differ in
nothing but their bytes: the other errors, and power cuts that leave half of the bytes or zeros, are tried at the first
and the last of such a row, and at all other changes.
"""
import dataclasses
import errno

from crash_states import crash_states
from scenarios import newest_step

LARGE_BYTES = 16384  # of an allocation: tensors and buffers
ERRORS = {"create": ("EIO", "ENOSPC", "EMFILE", "EINTR"), "open": ("EIO", "EMFILE", "EINTR"),
          "opendir": ("EIO", "EMFILE"), "truncate": ("EIO", "EMFILE", "EINTR"), "resize": ("EIO", "ENOSPC", "EINTR"),
          "write": ("EIO", "ENOSPC", "EINTR", "cut"), "fsync": ("EIO", "ENOSPC", "EINTR"), "rename": ("EIO", "ENOSPC"),
          "mkdir": ("EIO", "ENOSPC"), "link": ("EIO", "ENOSPC"), "symlink": ("EIO", "ENOSPC"),
          "close": ("EIO", "ENOSPC"), "read": ("EIO",), "stat": ("EIO",), "flock": ("EINTR", "ENOLCK"),
          "unlink": ("EIO",), "rmdir": ("EIO",)}
LASTING = ("EIO", "ENOSPC")  # a disk that has gone or is full stays so
NO_LOCKS = "ENOLCK"  # so does a file system without locks


@dataclasses.dataclass(frozen=True)
class Point:
    scenario: object
    text: str
    call: object  # CallRecord; None for a crash after the last change
    state: dict = None  # what a power cut leaves
    kept_step: int = 0  # the checkpoint that must have survived it

    @property
    def kind(self):
        return self.text.split(":")[0]

    @property
    def place(self):
        """Kind, way and call, without numbers: points with the same differ in little."""
        kind, _, *how = self.text.split(":")
        return (kind, "+" in self.text, *how, self.call.place() if self.call else "end")

    @property
    def faults(self):
        """The library's settings."""
        kind, number, *how = self.text.split(":")
        if kind == "kill":
            return {"kill": number}
        how = how[0] if how[0] == "cut" else getattr(errno, how[0])
        return {"fail": f"{kind}:{number}:{how}", "bytes": LARGE_BYTES if kind == "memory" else 0}


def rows_of_writes(changes):
    """The changes without those in the middle of a row of writes into one file."""
    def is_same(one, other):
        return one.name == other.name == "write" and one.inode == other.inode

    return [change for before, change, after in zip([None, *changes], changes, [*changes[1:], None])
            if before is None or after is None or not (is_same(before, change) and is_same(change, after))]


def kills(scenario, records):
    return [Point(scenario, f"kill:{record.number}", record) for record in records if record.kind == "change"]


def failing_calls(scenario, records):
    for kind in ("change", "look"):
        calls = [record for record in records if record.kind == kind and record.outcome == "done"]
        ends = {record.number for record in rows_of_writes(calls)}
        for record in calls:
            for how in ERRORS[record.name]:
                if how == "EIO" or record.number in ends:
                    yield Point(scenario, f"{kind}:{record.number}:{how}", record)
            if record.name == "flock":
                yield Point(scenario, f"{kind}:{record.number}+:{NO_LOCKS}", record)
            if kind == "change" and record.number in ends:
                yield from (Point(scenario, f"{kind}:{record.number}+:{how}", record) for how in LASTING)
    if scenario.program != "pagoda":
        return  # what Python does without memory is Python's
    for kind, how in (("thread", "EAGAIN"), ("memory", "ENOMEM")):
        for record in records:
            if record.kind == kind:
                yield Point(scenario, f"{kind}:{record.number}:{how}", record)
                if kind == "memory":
                    yield Point(scenario, f"{kind}:{record.number}+:{how}", record)


def power_cuts(scenario, system, records):
    """`system` is what the recorded run found. The bytes of a point's state are to be had until the next is taken."""
    ends = {record.number for record in rows_of_writes([record for record in records if record.kind == "change"])}
    for record, states in crash_states(system, records, ("cut", "zeros", "half", "undone")):
        kept_step = newest_step(system.state("undone")[0])
        number = record.number if record else "end"
        for variant, state in states.items():
            if record is None or record.number in ends or variant in ("cut", "undone"):
                yield Point(scenario, f"power:{number}:{variant}", record, state, kept_step)


def in_memory(state):
    """The state with the bytes that its files have now, before the next point is taken."""
    def constant(content):
        return lambda: content

    return {path: constant(content()) if callable(content) else content for path, content in state.items()}
