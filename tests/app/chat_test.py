"""`pagoda chat` through a pipe and on a terminal.

    PAGODA_PROGRAM=build/pagoda python3 tests/app/chat_test.py
"""
import unittest

from program import ProgramTest, Terminal, run

PAIRS = [("你好", "你好 ， 朋友"), ("你是谁", "我是 机器人"), ("再见", "明天 见"), ("hello", "good day")] * 30
PROMPT = "> "


class ChatTest(ProgramTest):
    """One run that has learnt a few answers by heart."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        conv = cls.scratch / "chat.conv"
        conv.write_text("".join(f"E\nM {question}\nM {answer}\n" for question, answer in PAIRS))
        cls.run_directory = cls.scratch / "run"
        result = run("train", "seq2seq", "--conv", conv, "--tokenizer", "characters", "--vocab-size", 60, "--embedding", 16,
                     "--hidden", 32, "--dropout", 0, "--label-smoothing", 0, "--lr", 0.02, "--batch-size", 12, "--devices", 1,
                     "--epochs", 12, "--valid-every", 0, "--bleu-pairs", 0, "--out", cls.run_directory)
        assert result.returncode == 0, result.stderr

    def answers(self, text, *arguments):
        result = run("chat", self.run_directory, *arguments, stdin=text)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.splitlines(), result.stderr

    def test_a_line_for_a_line_through_a_pipe(self):
        found, errors = self.answers("你好\n你是谁\n\n再见\r\nhello")
        self.assertEqual(found, ["你好，朋友", "我是机器人", "", "明天见", "good day"])
        self.assertEqual(errors, "")

    def test_beam_and_sampling(self):
        for arguments in (["--beam-size", 1], ["--temperature", 0.01], ["--top-k", 1]):
            self.assertEqual(self.answers("你好\n", *arguments)[0], ["你好，朋友"], arguments)
        wild = ["--temperature", 100]
        lines = "你好\n" * 8
        one, same, other = (self.answers(lines, *wild, "--seed", seed)[0] for seed in (1, 1, 2))
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)
        self.assertGreater(len(set(one)), 1, "every line is drawn anew")

    def test_bad_options(self):
        for arguments, word in [(["--temperature", 0], "above 0"), (["--temperature", 1, "--beam-size", 2], "--beam-size"),
                                (["--top-k", 0], "--top-k")]:
            refused = run("chat", self.run_directory, *arguments)
            self.assertEqual(refused.returncode, 2, refused.stderr)
            self.assertIn(word, refused.stderr)
        self.assertEqual(run("chat", "/nonexistent").returncode, 2)

    def test_lines_that_cannot_be_answered_are_told_and_the_rest_goes_on(self):
        lines = ["你好".encode(), b"\xe4\xbd", "好".encode() * 300, b"x" * 100_000, "再见".encode()]
        result = run("chat", self.run_directory, stdin=b"\n".join(lines) + b"\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.decode().splitlines(), ["你好，朋友", "", "", "", "明天见"])
        told = result.stderr.decode().splitlines()
        self.assertEqual(len(told), 3)
        for line, word in zip(told, ["UTF-8", "300 tokens", "more than 65536 bytes"]):
            self.assertIn(word, line)

    def start(self, *arguments):
        terminal = Terminal("chat", self.run_directory, *arguments)
        self.assertIn("Ctrl-D", terminal.read_until(PROMPT))
        return terminal

    def say(self, terminal, keys):
        """The last line shown before the next prompt."""
        terminal.type(keys)
        terminal.read_until("\r\n")  # the line itself
        return terminal.read_until("\r\n" + PROMPT).split("\r\n")[-2]

    def test_editing_and_history_on_a_terminal(self):
        terminal = self.start()
        self.assertEqual(self.say(terminal, "你好\r"), "你好，朋友")
        self.assertEqual(self.say(terminal, "再你\x7f见\r"), "明天见")       # backspace takes a whole character
        self.assertEqual(self.say(terminal, "是谁\x01你\r"), "我是机器人")    # Ctrl-A goes to the beginning
        self.assertEqual(self.say(terminal, "\x1b[A\x1b[A\r"), "明天见")     # up, twice
        self.assertIn("UTF-8", self.say(terminal, b"\xe4\xbd\r"))
        self.assertEqual(self.say(terminal, "hello\r"), "good day")
        terminal.type("\x04")
        code, _, same = terminal.finish()
        self.assertEqual((code, same), (0, True))

    def test_control_c_leaves_cleanly(self):
        terminal = self.start()
        terminal.type("half a li")
        terminal.read_until("li")
        terminal.type("\x03")
        code, shown, same = terminal.finish()
        self.assertEqual((code, same), (130, True))
        self.assertNotIn("pagoda:", shown)


if __name__ == "__main__":
    unittest.main()
