# SPDX-License-Identifier: Apache-2.0
"""A stand-in for PyTorch that notes copies, waits and pinned memory, for examples/pytorch."""

notes = []


class Tensor:
    def __init__(self, name):
        self.name = name

    def pin_memory(self):
        notes.append(f"pin {self.name}")
        return self

    def to(self, _device, non_blocking=False):
        cuda.last = self.name
        notes.append(f"copy {self.name} in {cuda.current_stream().name}{' without waiting' if non_blocking else ''}")
        return self

    def record_stream(self, stream):
        notes.append(f"keep {self.name} for {stream.name}")


class Generator:
    def manual_seed(self, _seed):
        return self


def randn(*_shape, generator):
    generator.made = getattr(generator, "made", 0) + 1
    return Tensor("abcd"[generator.made - 1])


class Stream:
    name = "copies"

    def record_event(self):
        return cuda.last

    def wait_event(self, event):
        notes.append(f"{self.name} waits for copy of {event}")


class Cuda:
    """`torch.cuda`, whose current stream is "compute" until another one is entered."""

    Stream = Stream
    last = None

    def __init__(self):
        self.entered = [Stream()]
        self.entered[0].name = "compute"

    def current_stream(self):
        return self.entered[-1]

    def stream(self, stream):
        self.entered.append(stream)
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_problem):
        self.entered.pop()


cuda = Cuda()
