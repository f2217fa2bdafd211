"""The log of calls that the library writes (call_plan.cpp)."""
import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class CallRecord:
    number: int
    kind: str  # change, look, thread, memory
    name: str
    outcome: str  # done, cut, error (by itself), failed (on purpose), killed
    inode: int
    offset: int
    size: int
    path: str
    second_path: str
    data: bytes

    def place(self):
        """The call and its path, without the numbers of processes, times and steps."""
        return f"{self.name} {without_numbers(self.names())}".strip()

    def names(self):
        """The paths, from the scenario's directory on."""
        return " -> ".join(re.sub(r".*/(state|input)(/|$)", "", name) or "." for name in (self.path, self.second_path)
                           if name)


def without_numbers(text):
    """Two texts that differ only in numbers, or in the names of temporary directories, are the same then."""
    return re.sub(r"[0-9]+", "#", re.sub(r"(tmp/pagoda-[a-z]+-)\w{6}", r"\1#", text))


def read_records(path):
    """All records, in the order of the calls."""
    text, records, at = path.read_bytes(), [], 0
    while at < len(text):
        end = text.index(b"\n", at)
        fields = text[at:end].decode(errors="surrogateescape").split("\t")
        number, kind, name, outcome, inode, offset, size, bytes_kept, first, second = fields
        at = end + 1 + int(bytes_kept)
        records.append(CallRecord(int(number), kind, name, outcome, int(inode), int(offset), int(size), first, second,
                                  text[end + 1:at]))
    return records
