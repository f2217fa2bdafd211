"""What a directory holds after a crash: the recorded changes are made again, in a model of the file system.

The model keeps, besides what the program sees, what is sure to be on the disk: a file's bytes since its last fsync, a
directory's names since its last fsync. From that come the states that a crash before change k can leave:

kill    Everything before k: the process dies, the machine goes on.
cut     A power cut on a journalling file system that keeps all changes of names, but loses what was written to files
        since their last fsync; they end there, so a file that was never synced is empty.
zeros   As `cut`, but the files have their full size, with zeros where the bytes are lost (delayed allocation).
half    As `cut`, but half of what was written since the last fsync has arrived.
undone  A power cut that loses changes of names, too: every directory has the names of its own last fsync, every file
        the bytes of its last fsync. A synced file's or directory's own parents are there, as journals see to it.

A journal that keeps names up to some earlier change leaves what `cut`, `zeros` and `half` leave for that earlier k.
"""
import dataclasses
import itertools
import os

VARIANTS = ("kill", "cut", "zeros", "half", "undone")


@dataclasses.dataclass(eq=False)
class File:
    data: bytearray
    version: int = 0  # counts changes of the data
    sure: int = 0  # bytes from the start that are on the disk, if the file's size is
    synced: bytes = b""  # as of the last fsync
    synced_version: int = 0
    serial: int = dataclasses.field(default_factory=itertools.count().__next__)  # no other file has it, ever


@dataclasses.dataclass(eq=False)
class Link:
    text: str


@dataclasses.dataclass(eq=False)
class Directory:
    names: dict = dataclasses.field(default_factory=dict)
    synced: dict = dataclasses.field(default_factory=dict)


class FileSystem:
    """What lies in one directory, with everything in it on the disk at first."""

    def __init__(self, root):
        self.root = str(root)
        self.files = {}  # by inode
        self.top = self._read(self.root)

    def _read(self, path):
        directory = Directory()
        for entry in os.scandir(path):
            if entry.is_symlink():
                node = Link(os.readlink(entry.path))
            elif entry.is_dir():
                node = self._read(entry.path)
            else:
                with open(entry.path, "rb") as file:
                    content = file.read()
                node = File(bytearray(content), sure=len(content), synced=content)
                self.files[entry.inode()] = node
            directory.names[entry.name] = node
        directory.synced = dict(directory.names)
        return directory

    def apply(self, record):
        """Makes a recorded change; others and what lies elsewhere change nothing."""
        where = record.second_path or record.path
        if record.kind != "change" or record.outcome not in ("done", "cut") or not self._is_inside(where):
            return
        getattr(self, "_" + record.name)(record)

    def _is_inside(self, path):
        return path == self.root or path.startswith(self.root + "/")

    def _parts(self, path):
        return [part for part in path[len(self.root):].split("/") if part]

    def _parent(self, path):
        *folders, name = self._parts(path)
        directory = self.top
        for folder in folders:
            directory = directory.names[folder]
        return directory, name

    def _open(self, record):
        pass

    def _create(self, record):
        directory, name = self._parent(record.path)
        directory.names[name] = self.files[record.inode] = File(bytearray())

    def _truncate(self, record):
        self._cut_at(self.files[record.inode], 0)

    def _resize(self, record):
        self._cut_at(self.files[record.inode], record.offset)

    def _cut_at(self, file, size):
        file.data[size:] = bytes(max(0, size - len(file.data)))
        file.sure = min(file.sure, size)
        file.version += 1

    def _write(self, record):
        file, end = self.files[record.inode], record.offset + record.size
        if len(record.data) != record.size:
            raise ValueError(f"the log lacks the bytes of {record}")
        file.data.extend(bytes(max(0, end - len(file.data))))
        file.data[record.offset:end] = record.data
        file.sure = min(file.sure, record.offset)
        file.version += 1

    def _mkdir(self, record):
        directory, name = self._parent(record.path)
        directory.names[name] = Directory()

    def _unlink(self, record):
        directory, name = self._parent(record.path)
        del directory.names[name]

    _rmdir = _unlink

    def _rename(self, record):
        source, old = self._parent(record.path)
        target, new = self._parent(record.second_path)
        target.names[new] = source.names.pop(old)

    def _link(self, record):
        source, old = self._parent(record.path)
        target, new = self._parent(record.second_path)
        target.names[new] = source.names[old]

    def _symlink(self, record):
        directory, name = self._parent(record.second_path)
        directory.names[name] = Link(record.path)

    def _fsync(self, record):
        directory, parts = self.top, self._parts(record.path)
        for at, part in enumerate(parts):
            node = directory.names.get(part)
            if isinstance(node, Directory):
                directory.synced = {name: other for name, other in directory.synced.items() if other is not node}
                directory.synced[part] = node
                directory = node
            elif at < len(parts) - 1:
                return  # of a directory that has gone
        file = self.files.get(record.inode)
        if file is None:
            directory.synced = dict(directory.names)
        else:
            file.sure, file.synced, file.synced_version = len(file.data), bytes(file.data), file.version

    def state(self, variant):
        """Relative paths with what a crash now leaves there: a function that gives a file's bytes, or None for a
        directory; and a key that is the same for the same state."""
        found = {}
        self._collect(self.top, "", variant, found)
        key = tuple((path, identity) for path, (identity, _) in sorted(found.items()))
        return {path: content for path, (_, content) in found.items()}, key

    def _collect(self, directory, prefix, variant, found):
        for name, node in (directory.synced if variant == "undone" else directory.names).items():
            path = prefix + name
            if isinstance(node, Directory):
                found[path] = (None, None)
                self._collect(node, path + "/", variant, found)
            elif isinstance(node, Link):
                found[path] = (node.text, node)
            else:
                found[path] = _file_content(node, variant)


def _file_content(file, variant):
    """Identity and bytes (a function, called before the next change)."""
    written, sure = len(file.data), file.sure
    if variant == "kill" or (sure == written and variant != "undone"):
        return (file.serial, file.version), lambda: bytes(file.data)
    if variant == "undone":
        return (file.serial, file.synced_version, len(file.synced)), lambda: file.synced
    if variant == "zeros":
        return (file.serial, sure, "zeros", written), lambda: bytes(file.data[:sure]) + bytes(written - sure)
    kept = sure + (written - sure) // 2 if variant == "half" else sure
    return (file.serial, sure, file.version if kept > sure else None, kept), lambda: bytes(file.data[:kept])


def write_state(state, root):
    """Makes the directory hold just that."""
    for path in sorted(state, key=lambda path: path.count("/")):
        target, content = os.path.join(root, path), state[path]
        if content is None:
            os.mkdir(target)
        elif isinstance(content, Link):
            os.symlink(content.text, target)
        else:
            with open(target, "wb") as file:
                file.write(content())


def crash_states(root_at_start, records, variants=VARIANTS):
    """For each change, in order: its record, and the different states that a crash just before it leaves, by variant;
    states that an earlier crash has left, too, are passed over. The last record is None: a crash after all changes,
    which has all its states, because more must have survived it."""
    seen = set()
    changes = [record for record in records if record.kind == "change"]
    for record in itertools.chain(changes, [None]):
        states = {}
        for variant in variants:
            state, key = root_at_start.state(variant)
            if key not in seen or record is None:
                seen.add(key)
                states[variant] = state
        yield record, states
        if record is not None:
            root_at_start.apply(record)
