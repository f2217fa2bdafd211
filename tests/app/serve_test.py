"""A run as others are served with it: one server, many clients, some of them bad.

    PAGODA_PROGRAM=build/pagoda python3 tests/app/serve_test.py
"""
import concurrent.futures
import http.client
import json
import shutil
import signal
import socket
import subprocess
import unittest

from program import PROGRAM, TIMEOUT_SECONDS, ProgramTest, run

WORDS = ["one", "two", "three", "seven", "eleven", "twenty-one", "hundred", "and", "six", "thousand"]
LINES = [" ".join(WORDS[(i * 7 + k * 3) % 10] for k in range(i % 5)) for i in range(40)]  # some are empty
MAX_REQUEST = 10_000


class ServeTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.out = cls.scratch / "run"
        trained = run("train", "seq2seq", "--tokenizer", "words", "--vocab-size", 60, "--embedding", 16, "--hidden", 16,
                      "--batch-size", 32, "--learning-rate", 0.02, "--max-pairs", 1000, "--bleu-pairs", 0, "--valid-every", 0,
                      "--max-steps", 40, "--devices", 2, "--out", cls.out)
        assert trained.returncode == 0, trained.stderr
        cls.server = cls.started("--max-request", MAX_REQUEST, "--max-queue", 60, "--max-sentences", 50, "--timeout", 1)
        cls.addClassCleanup(cls.stop)
        translated = run("translate", cls.out, "--json", stdin="".join(line + "\n" for line in LINES))
        cls.expected = [json.loads(line)["hypotheses"][0] for line in translated.stdout.splitlines()]

    @classmethod
    def started(cls, *arguments):
        """A server at a port of its own; `address` is where."""
        process = subprocess.Popen([PROGRAM, "serve", str(cls.out), "--port", "0", *map(str, arguments)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = process.stdout.readline()
        assert " at http://127.0.0.1:" in line, line + process.stderr.read()
        process.address = line.strip().rpartition("/")[2]
        return process

    @classmethod
    def stop(cls):
        cls.server.terminate()
        cls.server.communicate(timeout=TIMEOUT_SECONDS)

    def connection(self, server=None):
        connection = http.client.HTTPConnection((server or self.server).address, timeout=TIMEOUT_SECONDS)
        self.addCleanup(connection.close)
        return connection

    def asked(self, connection, body, path="/translate"):
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.headers, json.loads(response.read())

    def expect_translation(self, number, hypothesis):
        self.assertEqual(hypothesis["text"], self.expected[number]["text"])
        self.assertAlmostEqual(hypothesis["score"], self.expected[number]["score"], places=4)

    def send_many(self, client):
        """Twenty requests over one connection: how many were answered, and how many refused."""
        connection, found = self.connection(), {200: 0, 503: 0}
        for i in range(20):
            numbers = [(client * 20 + i + k) % len(LINES) for k in range(1 + client % 3)]
            status, headers, answer = self.asked(connection, {"text": [LINES[number] for number in numbers]})
            found[status] += 1
            if status == 200:
                self.assertEqual(len(answer["translations"]), len(numbers))
                for number, one in zip(numbers, answer["translations"]):
                    self.assertEqual(one["source"], LINES[number])
                    self.expect_translation(number, one["hypotheses"][0])
            else:
                self.assertIn("queue is full", answer["error"])
                self.assertEqual(headers["Retry-After"], "1")
        return found

    def test_a_thousand_requests_from_fifty_connections(self):
        self.assertGreater(len({one["text"] for one in self.expected}), 3, "the model tells lines apart")
        with concurrent.futures.ThreadPoolExecutor(50) as clients:
            found = list(clients.map(self.send_many, range(50)))
        answered, refused = (sum(one[status] for one in found) for status in (200, 503))
        self.assertEqual(answered + refused, 1000)
        self.assertGreater(answered, 500)
        connection = self.connection()
        connection.request("GET", "/metrics")
        metrics = dict(line.rsplit(" ", 1) for line in connection.getresponse().read().decode().splitlines()
                       if not line.startswith("#"))
        self.assertGreaterEqual(int(metrics['pagoda_requests_total{status="200"}']), answered)
        self.assertLess(int(metrics["pagoda_batch_sentences_count"]), answered, "requests were decoded together")
        self.assertEqual(metrics["pagoda_queue_sentences"], "0")

    def test_what_a_request_may_ask_for(self):
        connection, number = self.connection(), 13
        status, _, answer = self.asked(connection, {"text": LINES[number], "beam_size": 3, "n_best": 2, "tokens": True,
                                                    "attention": True})
        self.assertEqual(status, 200, answer)
        best, other = answer["translations"][0]["hypotheses"]
        self.assertGreaterEqual(best["score"], other["score"])
        self.assertEqual(" ".join(best["tokens"]), best["text"])
        self.assertEqual(best["attention"]["source"], LINES[number].split())
        for weights in best["attention"]["weights"]:
            self.assertAlmostEqual(sum(weights), 1, places=4)
        connection.request("GET", "/")
        page = connection.getresponse()
        self.assertEqual((page.status, page.headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn(b"<textarea", page.read())
        connection.request("GET", "/health")
        self.assertEqual(json.loads(connection.getresponse().read()), {"status": "ok", "model": str(self.out)})

    @unittest.skipUnless(shutil.which("curl"), "there is no curl")
    def test_curl(self):
        url = f"http://{self.server.address}/translate"
        found = subprocess.run(["curl", "-sS", url, "-d", json.dumps({"text": [LINES[7]]})], capture_output=True, check=True)
        self.expect_translation(7, json.loads(found.stdout)["translations"][0]["hypotheses"][0])
        large = self.scratch / "large.json"
        large.write_bytes(b" " * 3_000_000)
        refused = subprocess.run(["curl", "-sS", "-w", "%{http_code}", url, "--data-binary", f"@{large}"], capture_output=True)
        self.assertRegex(refused.stdout.decode(), f"more than {MAX_REQUEST} bytes.*\n413")

    def test_bad_requests_are_refused_with_reasons(self):
        connection = self.connection()
        for body, status, reason in [({"text": 3}, 400, "text is a whole number"), ([], 400, "give an object"),
                                     ({"text": "a", "beam_size": 17}, 400, "from 1 to 16"),
                                     ({"text": "a", "beam_size": 2, "n_best": 3}, 400, "n_best is 3"),
                                     ({"text": ["a"] * 51}, 400, "51 sentences, of at most 50"),
                                     ({"text": "x" * 5000}, 400, "5000 bytes, of at most 4096"),
                                     ({"text": ["x" * 1000] * 10}, 413, f"more than {MAX_REQUEST} bytes")]:
            found, _, answer = self.asked(connection, body)
            self.assertEqual((found, list(answer)), (status, ["error"]))
            self.assertIn(reason, answer["error"])
        self.assertEqual(self.asked(connection, {}, "/nothing")[0], 404)
        self.assertEqual(self.asked(connection, {}, "/health")[0], 405)

    def test_slow_and_broken_off_requests_disturb_nobody(self):
        host, port = self.server.address.split(":")
        whole = b"POST /translate HTTP/1.1\r\nContent-Length: 100\r\n\r\n" + b'{"text": "one"}'
        for size in range(0, len(whole), 9):
            with socket.create_connection((host, int(port)), TIMEOUT_SECONDS) as broken_off:
                broken_off.sendall(whole[:size])
        with socket.create_connection((host, int(port)), TIMEOUT_SECONDS) as slow:
            slow.sendall(whole)  # 85 bytes never come
            answer = http.client.HTTPResponse(slow)
            answer.begin()
            self.assertEqual(answer.status, 400)
            self.assertIn(b"came too slowly", answer.read())
        self.assertEqual(self.asked(self.connection(), {"text": LINES[7]})[0], 200)

    def test_a_signal_ends_the_server_after_the_requests_under_way(self):
        server = self.started("--max-wait", 0)
        connections = [self.connection(server) for _ in range(8)]
        for connection in connections:
            connection.request("POST", "/translate", json.dumps({"text": LINES, "beam_size": 16}))
        idle = self.connection(server)
        idle.request("GET", "/health")
        self.assertEqual(idle.getresponse().status, 200)
        server.send_signal(signal.SIGTERM)
        for connection in connections:
            response = connection.getresponse()
            self.assertEqual(response.status, 200)
            self.assertEqual(len(json.loads(response.read())["translations"]), len(LINES))
        stdout, stderr = server.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual((server.returncode, stdout, stderr), (0, "stopped after 9 requests\n", ""))
        with self.assertRaises(ConnectionError):
            self.connection(server).request("GET", "/health")

    def test_what_cannot_be_served(self):
        refused = run("serve", self.out, "--port", self.server.address.split(":")[1])
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertRegex(refused.stderr, r"cannot listen at 127\.0\.0\.1, port \d+.*--port")
        small = run("serve", self.out, "--max-queue", 5)
        self.assertEqual(small.returncode, 2, small.stderr)
        self.assertIn("--max-sentences 128", small.stderr)


if __name__ == "__main__":
    unittest.main()
