# SPDX-License-Identifier: MIT
"""ONNX nodes as calls of the operator catalogue: attributes, padding modes and defaults are resolved here."""
import math

import numpy as np

MILLION = 1000000


class NotCovered(Exception):
    """The node is none of our operators; the message says why."""


def need(condition, why):
    if not condition:
        raise NotCovered(why)


def million(value):
    scaled = round(float(value) * MILLION)
    need(scaled >= 0 and np.float32(scaled / 1e6) == np.float32(value), f"{value} is not in millionths")
    return scaled


def floats(*arrays):
    for array in arrays:
        need(array.dtype == np.float32, f"{array.dtype} tensors: operators are of float32")


# ---- windows -----------------------------------------------------------------------------------------------


def as_2d(x):
    """[n][c][w] as [n][c][1][w]."""
    need(x.ndim in (3, 4), f"{x.ndim - 2} spatial dimensions: operators have two")
    return x if x.ndim == 4 else x[:, :, None, :]


def pair(values, default, rank):
    values = list(values) if values else [default] * rank
    return [default] * (2 - len(values)) + values


def same_pads(sizes, outs, kernel, strides, dilations, lower):
    begin, end = [], []
    for size, out, k, s, d in zip(sizes, outs, kernel, strides, dilations):
        total = max((out - 1) * s + d * (k - 1) + 1 - size, 0)
        small, large = total // 2, total - total // 2
        begin.append(large if lower else small)
        end.append(small if lower else large)
    return begin + end


def window(attrs, x, kernel):
    """kh kw stride_h stride_w dil_h dil_w pad_t pad_l pad_b pad_r of a Conv, MaxPool or AveragePool over x."""
    rank = x.ndim - 2
    strides, dilations = pair(attrs.get("strides"), 1, rank), pair(attrs.get("dilations"), 1, rank)
    pads = list(attrs.get("pads", [0] * 2 * rank))
    if rank == 1:
        pads = [0, pads[0], 0, pads[1]]
    auto = attrs.get("auto_pad", b"NOTSET").decode()
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        sizes = as_2d(x).shape[2:]
        outs = [math.ceil(size / s) for size, s in zip(sizes, strides)]
        pads = same_pads(sizes, outs, kernel, strides, dilations, auto == "SAME_LOWER")
    elif auto == "VALID":
        pads = [0] * 4
    return [*kernel, *strides, *dilations, *pads]


def conv(call, attrs, x, w, bias=None):
    floats(x, w)
    x4, w4 = as_2d(x), as_2d(w)
    n, ic, h, width = x4.shape
    oc, _, kh, kw = w4.shape
    params = [n, ic, h, width, oc, *window(attrs, x, [kh, kw]), attrs.get("group", 1), bias is not None, 0]
    return [call("conv2d", params, x4, w4, np.zeros(oc, np.float32) if bias is None else bias)[0]]


def conv_transpose(call, attrs, x, w, bias=None):
    floats(x, w)
    rank = x.ndim - 2
    x4, w4 = as_2d(x), as_2d(w)
    n, ic, h, width = x4.shape
    groups = attrs.get("group", 1)
    oc, (kh, kw) = w4.shape[1] * groups, w4.shape[2:]
    strides, dilations = pair(attrs.get("strides"), 1, rank), pair(attrs.get("dilations"), 1, rank)
    extra = pair(attrs.get("output_padding"), 0, rank)
    pads = list(attrs.get("pads", [0] * 2 * rank))
    if rank == 1:
        pads = [0, pads[0], 0, pads[1]]
    full = [(size - 1) * s + d * (k - 1) + 1 for size, s, d, k in zip((h, width), strides, dilations, (kh, kw))]
    wanted = attrs.get("output_shape")
    auto = attrs.get("auto_pad", b"NOTSET").decode()
    if auto in ("SAME_UPPER", "SAME_LOWER") and not wanted:
        wanted = [h * strides[0], width * strides[1]]
    if wanted:
        pads = [0, 0, 0, 0]
        for axis in range(2):
            total = full[axis] + extra[axis] - list(wanted)[-2 + axis]
            if total < 0:
                extra[axis], total = extra[axis] - total, 0
            low = total // 2 if auto == "SAME_UPPER" else total - total // 2
            pads[axis], pads[axis + 2] = low, total - low
    params = [n, ic, h, width, oc, kh, kw, *strides, *dilations, *pads, groups, bias is not None, 0, *extra]
    return [call("conv_transpose", params, x4, w4, np.zeros(oc, np.float32) if bias is None else bias)[0]]


def pool(call, attrs, x, name):
    floats(x)
    x4 = as_2d(x)
    kernel = pair(attrs["kernel_shape"], 1, x.ndim - 2)
    params = [*x4.shape, *window(attrs, x, kernel), attrs.get("ceil_mode", 0), attrs.get("count_include_pad", 0)]
    return call(name, params, x4)


def max_pool(call, attrs, x):
    y, index = pool(call, attrs, x, "pool_max")
    n, c, h, w = as_2d(x).shape
    # ONNX counts through the whole tensor, columns first when storage_order is 1.
    planes = np.repeat(np.arange(n * c), index.size // (n * c))
    index = index.astype(np.int64)
    if attrs.get("storage_order", 0):
        index = index % w * h + index // w
    return [y, index + planes * h * w]


def average_pool(call, attrs, x):
    return pool(call, attrs, x, "pool_avg")


def global_average_pool(call, attrs, x):
    floats(x)
    return call("global_avg", as_2d(x).shape, as_2d(x))


def global_max_pool(call, attrs, x):
    floats(x)
    n, c, h, w = as_2d(x).shape
    return call("pool_max", [n, c, h, w, h, w, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0], x)[:1]


# ---- products ----------------------------------------------------------------------------------------------


def gemm(call, attrs, a, b, c=None):
    floats(a, b)
    ta, tb = attrs.get("transA", 0), attrs.get("transB", 0)
    m, k = a.shape[::-1] if ta else a.shape
    n = b.shape[0] if tb else b.shape[1]
    beta = attrs.get("beta", 1.0) if c is not None else 0
    c = np.broadcast_to(np.float32(0) if c is None else c, (m, n)).copy()
    params = [1, m, n, k, ta, tb, 0, 0, 0, 0, million(beta), million(attrs.get("alpha", 1.0))]
    return call("sgemm", params, a, b, np.zeros(n, np.float32), c)


def matmul(call, attrs, a, b):
    floats(a, b)
    need(a.ndim == b.ndim and a.shape[:-2] == b.shape[:-2], "batch dimensions that broadcast")
    (m, k), n, batch = a.shape[-2:], b.shape[-1], math.prod(a.shape[:-2])
    params = [batch, m, n, k, 0, 0, 1, 0, 0, 0, 0, MILLION]
    return call("sgemm", params, a, b, np.zeros(n, np.float32), np.zeros((batch, m, n), np.float32))


# ---- element by element ------------------------------------------------------------------------------------


def unary(name):
    def run(call, attrs, x):
        floats(x)
        return call(name, [x.size, 1], x)
    return run


def hard_sigmoid(call, attrs, x):
    floats(x)
    return call("hardsigmoid", [x.size, 1, million(attrs.get("alpha", 0.2)), million(attrs.get("beta", 0.5))], x)


def add(call, attrs, a, b):
    floats(a, b)
    shape = np.broadcast_shapes(a.shape, b.shape)
    need(len(shape) <= 4, "more than four dimensions")
    shape = (1,) * (4 - len(shape)) + shape

    def mask(t):
        dims = (1,) * (4 - t.ndim) + t.shape
        return sum(1 << 3 - i for i in range(4) if dims[i] == shape[i])
    return call("add2", [*shape, mask(a), mask(b)], a, b)


def add_all(call, attrs, *terms):
    floats(*terms)
    need(len(terms) > 1, "one operand: nothing to compute")
    total = terms[0]
    for term in terms[1:]:
        total = add(call, attrs, total, term)[0].reshape(total.shape)
    return [total]


# ---- rows --------------------------------------------------------------------------------------------------


def softmax(log):
    def run(call, attrs, x):
        floats(x)
        axis = attrs.get("axis", -1) % x.ndim
        return call("softmax", [math.prod(x.shape[:axis]), x.shape[axis], math.prod(x.shape[axis + 1:]), log], x)
    return run


def layer_norm(call, attrs, x, gamma, beta):
    floats(x, gamma, beta)
    axis = attrs.get("axis", -1) % x.ndim
    rows, cols = math.prod(x.shape[:axis]), math.prod(x.shape[axis:])
    return call("layer_norm", [rows, cols, million(attrs.get("epsilon", 1e-5))], x, gamma, beta)


def cross_entropy(call, attrs, x, label, weight=None):
    floats(x)
    need(weight is None, "class weights")
    need("ignore_index" not in attrs, "an ignored class")
    n, classes = x.shape[:2]
    pixels = x.size // n // classes
    rows = call("chw_to_seq", [n, classes, 1, pixels], x)[0]
    loss = call("softmax_xent", [n * pixels, classes], rows, label.astype(np.int32))[0]
    reduction = attrs.get("reduction", b"mean")
    if reduction == b"mean":
        loss = call("global_avg", [1, 1, 1, loss.size], loss)[0]
    elif reduction == b"sum":
        loss = call("bias_backward", [1, 1, loss.size], loss)[0]
    return [loss, call("softmax", [n, classes, pixels, 1], x)[0]]


# ---- moving data -------------------------------------------------------------------------------------------

PAD_MODES = {b"constant": 0, b"edge": 1, b"reflect": 2}


def pad(call, attrs, x, pads=None, value=None):
    if pads is None:  # attributes before version 11
        pads, value = np.array(attrs["pads"]), attrs.get("value")
    need(x.ndim == 4 and not pads[:2].any() and not pads[4:6].any(), "padding of other than the last two dimensions")
    sides = [int(pads[i]) + 100 for i in (2, 3, 6, 7)]
    value = million(0 if value is None else value)
    y = call("pad_all", [*x.shape, *sides, PAD_MODES[attrs.get("mode", b"constant")], value], x.astype(np.float32))
    return [y[0].astype(x.dtype)]


def copy_part(call, axis, x, x_from, count, y, y_from):
    outer, inner = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1:])
    params = [outer, x.shape[axis], inner, y.shape[axis], x_from, y_from, count]
    return call("copy_part", params, x, y)[0].reshape(y.shape)


def concat(call, attrs, *parts):
    floats(*parts)
    axis = attrs["axis"] % parts[0].ndim
    shape = list(parts[0].shape)
    shape[axis] = sum(p.shape[axis] for p in parts)
    y, at = np.zeros(shape, np.float32), 0
    for part in parts:
        y = copy_part(call, axis, part, 0, part.shape[axis], y, at)
        at += part.shape[axis]
    return [y]


def take(call, axis, x, start, count):
    shape = list(x.shape)
    shape[axis] = count
    return copy_part(call, axis, x, start, count, np.zeros(shape, np.float32), 0)


def slice_(call, attrs, x, starts, ends, axes=None, steps=None):
    floats(x)
    axes = range(len(starts)) if axes is None else axes
    need(steps is None or all(s == 1 for s in steps), "steps other than 1")
    for start, end, axis in zip(starts, ends, axes):
        axis = int(axis) % x.ndim
        start, end, _ = slice(int(start), int(end)).indices(x.shape[axis])
        need(end > start, "an empty result")
        x = take(call, axis, x, start, end - start)
    return [x]


def split(call, attrs, x, sizes=None, nparts=1):
    floats(x)
    need(x.size, "an empty tensor")
    axis = attrs.get("axis", 0) % x.ndim
    sizes = attrs.get("split", [x.shape[axis] // nparts] * nparts) if sizes is None else sizes
    return [take(call, axis, x, int(sum(sizes[:i])), size) for i, size in enumerate(map(int, sizes))]


COORDINATES = {"asymmetric": 0, "half_pixel": 1, "align_corners": 2}
ROUNDING = {"floor": 0, "ceil": 1, "round_prefer_floor": 2, "round_prefer_ceil": 3}


def resize(call, attrs, x, roi=None, scales=None, sizes=None):
    floats(x)
    mode = attrs.get("mode", b"nearest").decode()
    need(mode == "nearest", f"{mode} interpolation")
    factors = [0, 0] if scales is None or not scales.size else [million(s) for s in scales[2:]]
    size = sizes[2:] if sizes is not None else [math.floor(n * f / MILLION) for n, f in zip(x.shape[2:], factors)]
    coordinates = attrs.get("coordinate_transformation_mode", b"half_pixel").decode()
    rounding = attrs.get("nearest_mode", b"round_prefer_floor").decode()
    need(coordinates in COORDINATES, f"coordinates {coordinates}")
    return call("interp_nearest", [*x.shape, *size, COORDINATES[coordinates], ROUNDING[rounding], *factors], x)


def upsample(call, attrs, x, scales):
    return resize(call, {**attrs, "coordinate_transformation_mode": b"asymmetric", "nearest_mode": b"floor"}, x,
                  scales=scales)


# ---- optimisers --------------------------------------------------------------------------------------------


def momentum(call, attrs, rate, step, *tensors):
    count = len(tensors) // 3
    dampening = attrs["beta"] if step > 0 else 1.0
    params = [million(rate), million(attrs["alpha"]), million(dampening), million(attrs["norm_coefficient"]),
              attrs["mode"] == b"nesterov"]
    steps = [call("sgd_step", [x.size, *params], x, g, v)
             for x, g, v in zip(tensors[:count], tensors[count:2 * count], tensors[2 * count:])]
    return [w for w, _ in steps] + [v for _, v in steps]


def adam(call, attrs, *inputs):
    raise NotCovered("ONNX's Adam adds epsilon to the uncorrected root; ours is the paper's")


OPERATORS = {
    "Conv": conv, "ConvTranspose": conv_transpose, "MaxPool": max_pool, "AveragePool": average_pool,
    "GlobalAveragePool": global_average_pool, "GlobalMaxPool": global_max_pool, "Gemm": gemm, "MatMul": matmul,
    "Relu": unary("relu"), "Sigmoid": unary("sigmoid"), "Tanh": unary("tanh"), "HardSigmoid": hard_sigmoid,
    "Add": add, "Sum": add_all, "Softmax": softmax(0), "LogSoftmax": softmax(1), "LayerNormalization": layer_norm,
    "SoftmaxCrossEntropyLoss": cross_entropy, "Pad": pad, "Concat": concat, "Slice": slice_, "Split": split,
    "Resize": resize, "Upsample": upsample, "Momentum": momentum, "Adam": adam,
}
