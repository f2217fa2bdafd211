#!/usr/bin/env python3
"""Sends many requests to one `pagoda serve` and watches its memory.

    benchmarks/serve_load.py RUN [--program build/pagoda] [--requests 10000] [--connections 50]

Prints how many requests were answered and refused, how fast, how long they took, and the server's resident memory
after each thousand: it must not grow from the first thousand to the last.
"""
import argparse
import concurrent.futures
import http.client
import json
import signal
import statistics
import subprocess
import time

WORDS = ["one", "two", "three", "seven", "eleven", "twenty-one", "hundred", "and", "six", "thousand"]


def resident_mib(process):
    for line in open(f"/proc/{process.pid}/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("the server has ended")


def send(address, first, count):
    """`count` requests over one connection: their statuses and seconds."""
    connection = http.client.HTTPConnection(address, timeout=300)
    found = []
    for i in range(first, first + count):
        lines = [" ".join(WORDS[(i * 7 + k * 3 + n) % 10] for k in range(1 + i % 9)) for n in range(1 + i % 3)]
        body = json.dumps({"text": lines, "beam_size": 1 + i % 5, "attention": i % 10 == 0})
        begin = time.perf_counter()
        connection.request("POST", "/translate", body)
        response = connection.getresponse()
        response.read()
        found.append((response.status, time.perf_counter() - begin))
    connection.close()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--program", default="build/pagoda")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--connections", type=int, default=50)
    options = parser.parse_args()
    server = subprocess.Popen([options.program, "serve", options.run, "--port", "0"], stdout=subprocess.PIPE, text=True)
    address = server.stdout.readline().strip().rpartition("/")[2]
    print(f"{options.program} serve {options.run}: {resident_mib(server):.0f} MiB before the first request")
    each, found, begin = max(1, 1000 // options.connections), [], time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(options.connections) as clients:
        while len(found) < options.requests:
            firsts = range(len(found), len(found) + each * options.connections, each)
            for part in clients.map(lambda first: send(address, first, each), firsts):
                found += part
            print(f"{len(found):6} requests: {resident_mib(server):.1f} MiB", flush=True)
    seconds = time.perf_counter() - begin
    server.send_signal(signal.SIGTERM)
    server.wait(60)
    times = sorted(taken for status, taken in found if status == 200)
    refused = sum(status == 503 for status, _ in found)
    print(f"{len(times)} answered, {refused} refused, {len(found) - len(times) - refused} others; "
          f"{len(found) / seconds:.0f} requests/s; median {1000 * statistics.median(times):.0f} ms, "
          f"99 of 100 within {1000 * times[int(0.99 * len(times))]:.0f} ms; exit code {server.returncode}")


if __name__ == "__main__":
    main()
