# SPDX-License-Identifier: Apache-2.0
"""The commands of penstock, whose results are data."""
import json
import os
import shutil
import subprocess
from pathlib import Path

from penstock import _core

_ROWS = ("points", "tried", "findings", "files")


class CommandFailed(_core.Error):
    """A command could not do its work; the text is its own.

    Attributes
    ----------
    code : int
        Its exit code, as docs/commands has it.
    """

    def __init__(self, sentence, code):
        super().__init__(sentence)
        self.code = code


class Results:
    """Results of a command.

    Attributes
    ----------
    code : int
        0, or 1 if something failed, differs or is missing; `messages` says what.
    messages : str
        What the command said beside the results.
    """

    def __init__(self, results, code, messages):
        self._results = results
        self.code = code
        self.messages = messages

    def as_dict(self):
        """All of it, as docs/results.md has it."""
        return self._results

    def __getitem__(self, name):
        return self._results[name]

    def to_frame(self):
        """The rows as a pandas.DataFrame.

        They are the points of `bench` and `compare`, what `tune` tried, findings of `watch`, the files of `hash_`, and of
        `run` the lines that the job printed, with a column for each word.
        """
        import pandas

        if isinstance(self._results.get("results"), str):
            return pandas.DataFrame([line.split() for line in self._results["results"].splitlines()])

        for name in _ROWS:
            if isinstance(self._results.get(name), list):
                return pandas.json_normalize(self._results[name], sep="_")
        raise _core.Error(f"Results of {self._results.get('kind')} have no rows: use as_dict().")

    def __repr__(self):
        return f"<penstock.Results of {self._results.get('kind')}, code {self.code}>"


def _program(name):
    """Path of a program that is beside the package, named by PENSTOCK_PROGRAMS, or in PATH."""
    folders = [os.environ.get("PENSTOCK_PROGRAMS"), Path(__file__).parent / "bin"]
    for folder in filter(None, folders):
        if (Path(folder) / name).is_file():
            return str(Path(folder) / name)
    found = shutil.which(name)
    if found is None:
        raise CommandFailed(
            f"There is no program {name!r}: install it, or name its folder in the variable PENSTOCK_PROGRAMS.", 127
        )
    return found


def _texts(options):
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            yield option
        elif isinstance(value, (list, tuple)):
            yield from (option, ",".join(map(str, value)))
        elif value is not None and value is not False:
            yield from (option, os.fspath(value) if isinstance(value, os.PathLike) else str(value))


def _output(program, command, options, behind):
    """What a command prints as JSON, its exit code and what it says."""
    words = [_program(program), command, *_texts(options), "--json", *behind]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            out, messages = process.communicate()
        except BaseException:
            process.terminate()
            raise
    messages = messages.decode(errors="replace")
    if process.returncode not in (0, 1) or not out.strip():
        raise CommandFailed(messages.strip() or f"penstock {command} ended with code {process.returncode}.", process.returncode)
    return out, process.returncode, messages


def _run(program, command, options, behind=()):
    out, code, messages = _output(program, command, options, behind)
    return Results(json.loads(out), code, messages)


def run(job, **options):
    """Do a job once: ``run("lines", input="access.log", by="hour")``.

    Parameters
    ----------
    job : str
        The program of a job: "lines", "packets", "radio", "images", or one of your own.
    **options
        Those of ``JOB run``, with _ for -.

    Returns
    -------
    Results
        `code` is 1 if input failed or was left out; ``results["left_out"]`` has it with the reasons.
    """
    return _run(job, "run", options)


def hash_(*paths, **options):
    """Hash files with BLAKE3, as ``penstock hash`` and ``b3sum`` do.

    Parameters
    ----------
    *paths : str or os.PathLike
        Files, and folders with all that is below.
    **options
        Those of ``penstock hash``, with _ for -.

    Returns
    -------
    Results
        ``results["files"]`` has a dict for each file, with `path`, `bytes` and `blake3`, or `problem` where it could not be
        hashed; `code` is 1 then.
    """
    out, code, messages = _output("penstock", "hash", options, ("--", *map(os.fspath, paths)))
    lines = [json.loads(line) for line in out.splitlines()]
    summary = next((line["summary"] for line in lines if line["kind"] == "hash"), None)
    return Results(
        {"schema": 1, "kind": "hash", "files": [line for line in lines if line["kind"] != "hash"], "summary": summary},
        code,
        messages,
    )


def doctor(device="auto", **options):
    """Say what this machine is and what would hold a pipeline back. Options are those of ``penstock doctor``."""
    return _run("penstock", "doctor", {"device": device, **options})


def bench(job=None, **options):
    """Measure pipelines over axes: ``bench(producers=[1, 4], tile=["64KiB", "1MiB"])``.

    Parameters
    ----------
    job : str or None
        The program of a job, as "lines"; None for the built-in one.
    **options
        Those of ``penstock bench``, with _ for -; a list is an axis, True an option without a value.

    Returns
    -------
    Results
    """
    return _run(job or "penstock", "bench", options)


def compare(job=None, **options):
    """Measure the legacy build against the per-thread one. Parameters are those of `bench`."""
    return _run(job or "penstock", "compare", options)


def tune(job=None, **options):
    """Look for the best threads, lanes, sizes and signal. Parameters are those of `bench`."""
    return _run(job or "penstock", "tune", options)


def try_(command, *, rounds=None, **options):
    """Run any CUDA program as it is and with per-thread default streams, in turn.

    Parameters
    ----------
    command : list of str
        The program and its arguments.
    rounds : int or None
        How often each of both runs.
    **options
        Those of ``penstock try``.

    Returns
    -------
    Results
        With code 1 if the results differ, or are in order only by the legacy stream.
    """
    return _run("penstock", "try", {"repeats": rounds, **options}, ["--", *map(os.fspath, command)])


def watch(command, **options):
    """Say where the time of any CUDA program goes, and if streams would help. Options are those of ``penstock watch``."""
    return _run("penstock", "watch", options, ["--", *map(os.fspath, command)])
