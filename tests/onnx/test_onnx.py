# SPDX-License-Identifier: MIT
"""The ONNX project's own node tests (Debian's libonnx-testdata) on the CPU references and on sim.

Every test of a node that is one of our operators must pass; the others of these operators are skipped with
the reason (`pytest -rs tests/onnx`).
"""
import subprocess
from pathlib import Path

import numpy as np
import onnx
import onnx.numpy_helper
import pytest

from nodes import OPERATORS, NotCovered

ROOT = Path(__file__).parents[2]
DATA = Path("/usr/share/libonnx-testdata/data")
RELATIVE, ABSOLUTE = 1e-5, 1e-6  # the expected values were computed in float, too


class Server:
    """build/unit/operator_server: one process for all tests."""

    def __init__(self):
        self.process = subprocess.Popen([ROOT / "build/unit/operator_server"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.last = (None, None)  # the reference's results and the device's come from one request

    def call(self, name, params, *inputs):
        """The outputs' raw bytes: of each the reference's, then the device's."""
        request = " ".join([name, *(str(int(p)) for p in params)]).encode() + b"\n"
        request += b"".join(np.ascontiguousarray(array).tobytes() for array in inputs)
        if request == self.last[0]:
            return self.last[1]
        self.last = (request, self.ask(name, request))
        return self.last[1]

    def ask(self, name, request):
        self.process.stdin.write(request)
        self.process.stdin.flush()
        status, _, rest = self.process.stdout.readline().decode().partition(" ")
        assert status == "ok", f"{name}: {rest or 'the server ended'}"
        return self.process.stdout.read(int(rest))

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=60) == 0


@pytest.fixture(scope="module")
def server():
    made = Server()
    yield made
    made.close()


INTEGER_OUTPUTS = {"pool_max": (1,)}
OUTPUTS = {"pool_max": 2, "sgd_step": 2}  # of one size; else 1


def outputs(name, params, raw, which):
    """The reply's arrays: each output twice, reference (which 0) first."""
    if name == "softmax_xent":
        sizes = [params[0], params[0] * params[1]]
    else:
        sizes = [len(raw) // 8 // OUTPUTS.get(name, 1)] * OUTPUTS.get(name, 1)
    arrays, at = [], 0
    for i, size in enumerate(sizes):
        kind = np.int32 if i in INTEGER_OUTPUTS.get(name, ()) else np.float32
        arrays.append(np.frombuffer(raw, kind, size, 4 * (at + which * size)))
        at += 2 * size
    return arrays


def load(path):
    return onnx.numpy_helper.to_array(onnx.load_tensor(str(path)))


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def cases():
    for folder in sorted(DATA.glob("node/*")) + sorted(DATA.glob("pytorch-*/*")):
        graph = onnx.load(str(folder / "model.onnx")).graph
        if len(graph.node) == 1 and graph.node[0].op_type in OPERATORS:
            yield pytest.param(folder, graph, id=f"{folder.parent.name}/{folder.name}")


def operands(folder, graph):
    """What each name of the node stands for; "" is an input left out."""
    weights = {t.name: onnx.numpy_helper.to_array(t) for t in graph.initializer}
    given = [i.name for i in graph.input if i.name not in weights]
    files = {name: load(folder / f"test_data_set_0/input_{i}.pb") for i, name in enumerate(given)}
    return [None if name == "" else files[name] if name in files else weights[name] for name in graph.node[0].input]


@pytest.mark.parametrize("folder, graph", cases())
def test_node(server, folder, graph):
    node = graph.node[0]
    attrs, inputs = attributes(node), operands(folder, graph)
    extra = {"nparts": len(node.output)} if node.op_type == "Split" else {}
    for which, where in enumerate(("CPU reference", "sim")):

        def call(name, params, *arrays):
            return outputs(name, params, server.call(name, params, *arrays), which)

        try:
            results = OPERATORS[node.op_type](call, attrs, *inputs, **extra)
        except NotCovered as reason:
            pytest.skip(f"not covered: {node.op_type}: {reason}")
        for i, result in enumerate(results[:len(graph.output)]):
            expected = load(folder / f"test_data_set_0/output_{i}.pb")
            np.testing.assert_allclose(np.asarray(result).reshape(expected.shape), expected, RELATIVE, ABSOLUTE,
                                       err_msg=f"output {i} of the {where}")


def test_enough_nodes_are_covered():
    assert len(list(cases())) > 150
