"""TensorBoard's own readers find in our event files what write_sample_events.cpp wrote.

    PAGODA_SAMPLE_EVENTS=build/tests/write_sample_events .venv/bin/python tests/events/tensorboard_reads_test.py

Exits with 77 (skipped) where Python has no TensorBoard.
"""

import io
import logging
import math
import os
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

try:
    import numpy
    from PIL import Image
    from tensorboard import context
    from tensorboard.backend.event_processing import data_provider
    from tensorboard.backend.event_processing import event_accumulator
    from tensorboard.backend.event_processing import event_file_loader
    from tensorboard.backend.event_processing import plugin_event_multiplexer
    from tensorboard.data import server_ingester
    from tensorboard.plugins import base_plugin
    from tensorboard.plugins.graph import graphs_plugin
    from tensorboard.plugins.text import text_plugin
    from tensorboard.util import grpc_util
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

KEEP_ALL = {"scalars": 0, "tensors": 0, "images": 0, "histograms": 0, "compressedHistograms": 0}
BAD_BYTE_TAG = "bad\ufffd"
scratch = tempfile.TemporaryDirectory()
logdir = Path(scratch.name)
run = logdir / "run"


def setUpModule():
    subprocess.run([os.environ["PAGODA_SAMPLE_EVENTS"], run], check=True)


def tearDownModule():
    scratch.cleanup()


def float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def expected_steps(formula):
    """Steps 1 to 5 of the first run, 6 to 10 of its continuation, which doubles the scale."""
    return [(step, float32(formula(step, 1 if step <= 5 else 2))) for step in range(1, 11)]


LOSS = expected_steps(lambda step, scale: scale / step)
TOWER_LOSS = expected_steps(lambda step, scale: -scale * step)


def sample_values(step):
    return [(i - 400) * step / 1024 for i in range(1000)]


def sample_pixels():
    return bytes(i * 7 % 256 for i in range(3 * 17 * 11))


class EventAccumulatorTest(unittest.TestCase):
    """The reader for scripts."""

    @classmethod
    def setUpClass(cls):
        cls.events = event_accumulator.EventAccumulator(str(run), size_guidance=KEEP_ALL).Reload()

    def test_there_is_all_that_was_written_and_nothing_else(self):
        tags = self.events.Tags()
        scalars = {"loss", "tower/loss_0", "odd/non_finite", "nan", BAD_BYTE_TAG}
        self.assertEqual(set(tags["scalars"]), scalars)
        self.assertEqual(set(tags["histograms"]), {"parameters/conv1.weight", "odd", "nothing"})
        self.assertEqual(tags["images"], ["batch/0"])
        self.assertEqual(tags["tensors"], ["configuration"])
        self.assertTrue(tags["graph"])

    def test_scalars_and_the_restart(self):
        points = [(point.step, point.value) for point in self.events.Scalars("loss")]
        self.assertEqual(points, LOSS)
        points = [(point.step, point.value) for point in self.events.Scalars("tower/loss_0")]
        self.assertEqual(points, TOWER_LOSS)
        self.assertTrue(math.isnan(self.events.Scalars("nan")[0].value))

    def test_wall_times_are_now_and_grow(self):
        times = [point.wall_time for point in self.events.Scalars("loss")]
        self.assertEqual(times, sorted(times))
        self.assertLess(abs(times[0] - time.time()), 600)

    def test_histograms(self):
        histograms = self.events.Histograms("parameters/conv1.weight")
        self.assertEqual([event.step for event in histograms], list(range(1, 11)))
        for event in histograms:
            values, histogram = sample_values(event.step), event.histogram_value
            self.assertEqual((histogram.min, histogram.max), (min(values), max(values)))
            self.assertEqual((histogram.num, histogram.sum), (len(values), sum(values)))
            self.assertEqual(histogram.sum_squares, sum(value * value for value in values))
            edges = [-math.inf, *histogram.bucket_limit]
            counts = [
                sum(low <= value < high for value in values)
                for low, high in zip(edges, edges[1:])
            ]
            self.assertEqual(histogram.bucket, counts)

    def test_values_that_are_not_finite_are_counted_apart(self):
        histogram = self.events.Histograms("odd")[0].histogram_value
        self.assertEqual((histogram.num, histogram.min, histogram.max), (2, 1, 2))
        self.assertEqual(self.events.Scalars("odd/non_finite")[0].value, 3)
        self.assertEqual(self.events.Histograms("nothing")[0].histogram_value.num, 0)

    def test_image(self):
        (event,) = self.events.Images("batch/0")
        self.assertEqual((event.step, event.width, event.height), (1, 17, 11))
        image = Image.open(io.BytesIO(event.encoded_image_string))
        self.assertEqual((image.format, image.mode, image.size), ("PNG", "RGB", (17, 11)))
        self.assertEqual(image.tobytes(), sample_pixels())

    def test_graph(self):
        nodes = {node.name: node for node in self.events.Graph().node}
        names = ["images", "features/conv1", "features/relu1", "classifier/linear"]
        self.assertEqual(list(nodes), names)
        self.assertEqual(nodes["features/conv1"].op, "Conv2d")
        self.assertEqual(nodes["features/conv1"].input, ["images"])
        self.assertEqual(nodes["features/conv1"].attr["kernel_size"].s, b"5x5")


class PythonServerTest(unittest.TestCase):
    """What `tensorboard --load_fast=false` hands to its tabs."""

    @classmethod
    def setUpClass(cls):
        multiplexer = plugin_event_multiplexer.EventMultiplexer(tensor_size_guidance={"scalars": 0})
        multiplexer.AddRunsFromDirectory(str(logdir)).Reload()
        cls.provider = data_provider.MultiplexerDataProvider(multiplexer, str(logdir))

    def series(self, read, plugin):
        data = read(context.RequestContext(), experiment_id="", plugin_name=plugin, downsample=1000)
        return data.get("run", {})

    def points(self, tag):
        series = self.series(self.provider.read_scalars, "scalars")
        return [(datum.step, datum.value) for datum in series.get(tag, [])]

    def test_scalars_and_the_restart(self):
        self.assertEqual(self.points("loss"), LOSS)
        self.assertEqual(self.points("tower/loss_0"), TOWER_LOSS)
        self.assertEqual(self.points("odd/non_finite"), [(1, 3.0)])
        self.assertEqual(self.points(BAD_BYTE_TAG), [(1, 1.0)])

    def test_histograms(self):
        series = self.series(self.provider.read_tensors, "histograms")
        data = series["parameters/conv1.weight"]
        self.assertEqual([datum.step for datum in data][-5:], [6, 7, 8, 9, 10])
        for datum in data:
            left, right, counts = numpy.asarray(datum.numpy).T
            values = sample_values(datum.step)
            self.assertEqual(counts.sum(), len(values))
            self.assertEqual((left[0], right[-1]), (min(values), max(values)))
            self.assertTrue((left < right).all())
        self.assertEqual(numpy.asarray(series["odd"][0].numpy)[:, 2].sum(), 2)

    def test_image(self):
        (datum,) = self.series(self.provider.read_blob_sequences, "images")["batch/0"]
        width, height, png = (
            self.provider.read_blob(context.RequestContext(), blob_key=value.blob_key)
            for value in datum.values
        )
        self.assertEqual((width, height), (b"17", b"11"))
        self.assertEqual(Image.open(io.BytesIO(png)).tobytes(), sample_pixels())

    def test_text_is_shown_as_markdown(self):
        (datum,) = self.series(self.provider.read_tensors, "text")["configuration"]
        html = text_plugin.text_array_to_html(numpy.asarray(datum.numpy), enable_markdown=True)
        self.assertEqual(html.count("<table>"), 1)  # the Markdown's own, and none around it
        self.assertIn("<td>größe</td>", html)

    def test_graph_tab(self):
        plugin = graphs_plugin.GraphsPlugin(base_plugin.TBContext(data_provider=self.provider))
        self.assertTrue(plugin.info_impl(context.RequestContext(), "")["run"]["run_graph"])
        text, _ = plugin.graph_impl(context.RequestContext(), "run", None, False, "")
        self.assertIn('name: "features/conv1"', text)


class FastServerTest(PythonServerTest):
    """The same by TensorBoard's usual data server, which is another program and reads by itself."""

    @classmethod
    def setUpClass(cls):
        try:
            binary = server_ingester.get_server_binary()
        except server_ingester.NoDataServerError as missing:
            raise unittest.SkipTest(str(missing))
        cls.ingester = server_ingester.SubprocessServerDataIngester(
            binary,
            str(logdir),
            reload_interval=0,
            channel_creds_type=grpc_util.ChannelCredsType.LOCAL,
            samples_per_plugin={"scalars": 0},
        )
        cls.ingester.start()
        cls.provider = cls.ingester.data_provider
        deadline = time.monotonic() + 30
        while len(cls().points("tower/loss_0")) < 10 and time.monotonic() < deadline:
            time.sleep(0.05)  # it answers before it has read


class CutFileTest(unittest.TestCase):
    def setUp(self):
        records = self.records(min(run.iterdir()).read_bytes())
        records = records[:2] + records[-3:]  # the opening, two scalars, a histogram
        self.bytes = b"".join(records)
        self.ends = [sum(map(len, records[:count])) for count in range(len(records) + 1)]
        self.cut = logdir / "cut.tfevents"
        self.addCleanup(self.cut.unlink)

    def records(self, data):
        """The records of a file, with their frames."""
        records = []
        while data:
            size = struct.unpack_from("<Q", data)[0] + 16
            records.append(data[:size])
            data = data[size:]
        return records

    def loader(self, size):
        self.cut.unlink(missing_ok=True)  # truncating it would wait for the disk
        self.cut.write_bytes(self.bytes[:size])
        return event_file_loader.LegacyEventFileLoader(str(self.cut))

    def test_a_file_cut_at_any_byte_is_read_up_to_there(self):
        for size in range(len(self.bytes) + 1):
            whole = sum(end <= size for end in self.ends) - 1
            self.assertEqual(len(list(self.loader(size).Load())), whole, f"cut at byte {size}")

    def test_a_reader_that_saw_half_a_record_goes_on_when_the_rest_comes(self):
        for size in range(self.ends[2], self.ends[3]):
            loader = self.loader(size)
            before = len(list(loader.Load()))
            with self.cut.open("ab") as file:
                file.write(self.bytes[size:])
            after = len(list(loader.Load()))
            self.assertEqual(before + after, len(self.ends) - 1, f"cut at byte {size}")


if __name__ == "__main__":
    logging.getLogger("tensorboard").setLevel(logging.ERROR)  # it tells of every restart
    unittest.main(warnings="ignore")  # its data server leaves that to the end of the process
