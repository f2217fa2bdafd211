#!/usr/bin/env python3
"""`pagoda translate` for decoding_rounds.py: one process that gets the lines of a round by its stdin.

Timed is from the first line that is written to the last that comes back.
"""

import fcntl
import subprocess
import sys
import threading

import decoding_rounds

PIPE_BYTES = 1 << 20  # the most that the system allows: the program finds its lines waiting, as those of a file


class Program:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        fcntl.fcntl(self.process.stdin, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def translate(self, lines, _):
        text = "".join(f"{line}\n" for line in lines).encode()
        writer = threading.Thread(target=self.write, args=(text,))
        writer.start()
        found = [self.process.stdout.readline() for _ in lines]
        writer.join()
        if not found[-1].endswith(b"\n"):
            sys.exit(f"pagoda translate ended with code {self.process.wait()}")
        return [line.decode().removesuffix("\n") for line in found], {}

    def write(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


if __name__ == "__main__":
    parser = decoding_rounds.parser(__doc__)
    parser.add_argument("command", nargs="+", help="such as: build/pagoda translate runs/fr")
    options = parser.parse_args()
    program = Program([*options.command, "--beam-size", str(options.beam_size)])
    try:
        decoding_rounds.serve(program.translate, options)
    finally:
        program.close()
