"""The command line as a user meets it: exit codes, messages, and no traceback for a mistake."""

import argparse
import errno
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import nalu_bench
from nalu_bench import paths
from nalu_bench.cli import main
from nalu_bench.datasets import mnist
from nalu_bench.errors import UsageError
from nalu_bench.plan import experiment, folders
from nalu_bench.running import jobs, runner
from nalu_bench.store.leases import Lease
from nalu_bench.training import loop
from nalu_bench.verbs import names, report

SMOKE = ["task=ten_parameter", "budget=smoke", "device.workers=1"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store and results of the test's own."""
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "model=nmuu"],
        ["run", "experiment=madsen2020/tabel1"],
        ["run", "experiment=madsen2020/table1", "+typo=1"],
        ["report", "madsen2020/tabel1"],
        ["report", "madsen2020/table1", "budget=papr"],
        ["list", "modell"],
        ["run", "seeds=0"],
        ["run", "experiment="],
        ["run", "-m", "experiment=madsen2020/table1"],
        ["run", "model.penalties={}", "budget=smoke"],
        ["run", "budget=smoke", "hydra/launcher=nonsense"],
        ["status", "budget=smoke", "hydra/launcher=nonsense"],
        ["run", "-m", "model=nau,nac", "task.operation=add", "budget=smoke", f"name={300 * 'x'}"],
        ["report", f"sweeps/{300 * 'x'}"],
        ["report", "--last", "madsen2020/figure2"],
        ["show", "experiment=madsen2020/table1"],
        ["report", "-m", "madsen2020/table1"],
        ["verify"],
        ["leaderboard", "--only", "ab"],
        ["leaderboard", "--fail-fast"],
    ],
)
def test_a_users_mistake_exits_with_2_and_says_why(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    (told,) = [line for line in error.splitlines() if line.startswith("error: ")]
    assert told == error.splitlines()[-1]
    assert "Traceback" not in error


@pytest.mark.parametrize(
    "words",
    [
        ["--no-page", "madsen2020/figure2", "budget=paper"], ["madsen2020/figure2", "--no-page", "budget=paper"],
        ["madsen2020/figure2", "budget=paper", "--no-page"], ["budget=paper", "--no-page", "madsen2020/figure2"],
    ],
)  # fmt: skip
def test_flags_may_stand_before_between_and_after_the_words(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[argparse.Namespace] = []
    monkeypatch.setattr(report, "report", lambda options: seen.append(options) or 0)
    assert main(["report", *words]) == 0
    assert seen[0].no_page
    assert seen[0].overrides == ["madsen2020/figure2", "budget=paper"]


def test_flags_may_stand_anywhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "model=nac", "-m", "task.operation=add,sub"]) == 0
    *cells, total = capsys.readouterr().out.splitlines()
    assert len(cells) == 2
    assert total.startswith("total: 0/2 cells")


def test_status_tells_which_other_budget_the_results_have(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "madsen2020/mnist_sum", "budget=smoke"]) == 0
    assert capsys.readouterr().out.startswith("madsen2020/mnist_sum budget=smoke (results/ has budget=desk)\n")
    assert main(["status", "madsen2020/mnist_sum", "budget=desk"]) == 0
    assert capsys.readouterr().out.startswith("madsen2020/mnist_sum budget=desk\n")


def test_a_damaged_name_of_the_last_sweep_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    last = home / "results" / "local" / "sweeps" / "last"
    last.parent.mkdir(parents=True)
    last.write_bytes(b"\xff\0")
    assert main(["report", "--last"]) == 2
    assert f"error: {last} is damaged ('utf-8' codec" in capsys.readouterr().err


def test_an_unknown_verb_exits_with_2() -> None:
    assert main(["trian"]) == 2


def test_notebooks_are_copied_and_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["notebooks", str(tmp_path / "mine")]) == 0
    assert capsys.readouterr().out.startswith("6 notebooks in ")
    assert len(list((tmp_path / "mine").glob("*.ipynb"))) == 6
    assert main(["notebooks", str(tmp_path / "mine")]) == 2
    assert "must not hold 1_tour.ipynb" in capsys.readouterr().err


def test_a_mistake_leaves_nothing_behind(home: Path) -> None:
    main(["run", "task.operation=mull"])
    assert list(home.iterdir()) == []


def test_a_store_that_cannot_be_made_is_a_plain_error(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("NALU_BENCH_HOME", str(home / "file"))
    assert main(["run", *SMOKE, "model=nmu"]) == 2
    assert "cannot be made: Not a directory" in capsys.readouterr().err


def test_a_tilde_in_a_folder_is_the_users_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "conf").mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("HOME", "CONF", "DATA"):
        monkeypatch.setenv(f"NALU_BENCH_{name}", "~/conf")
    assert paths.work_dir() == paths.user_conf_dir() == home / "conf"
    with pytest.raises(UsageError, match=str(home / "conf")):
        mnist.folder()


@pytest.mark.slow
@pytest.mark.parametrize("launcher", [[], ["hydra/launcher=joblib"], ["device.workers=2", "seeds=30"]])
def test_relative_paths_begin_in_the_folder_of_the_command_in_every_process(
    home: Path, launcher: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "my.csv").write_text("x,y\n" + "".join(f"{x},{2 * x}\n" for x in range(40)))
    monkeypatch.chdir(home)
    monkeypatch.setenv("NALU_BENCH_HOME", "store")
    table = ["task=table", "task.data=my.csv", "task.targets=[y]", "model=nau", "recipe=table", "compile=false"]
    size = ["budget.steps=4", "budget.log_every=2"]
    launcher = [*launcher, *([] if "device.workers=2" in launcher else ["device.workers=1", "seeds=2"])]
    assert main(["run", *table, *size, *launcher, "hydra.job.chdir=true"]) == 0
    assert {path.parent for path in home.rglob("parts/*")} == {
        path.parent for path in home.glob("store/runs/*/*/*/parts/*")
    }
    assert list(home.glob("store/runs/*/*/*/parts/0-24"))
    assert not list(home.rglob("failures/*"))


def test_running_twice_trains_nothing_the_second_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *SMOKE, "model=nmu"]) == 0
    assert "2 of 2 runs of 1 cell to train" in capsys.readouterr().out
    assert main(["run", *SMOKE, "model=nmu"]) == 0
    assert "nothing to train: all 2 runs of 1 cell are there" in capsys.readouterr().out


def test_more_seeds_train_only_the_blocks_that_are_missing(capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", *SMOKE, "model=nau"])
    capsys.readouterr()
    assert main(["run", *SMOKE, "model=nau", "seeds=25"]) == 0
    assert "nothing to train: all 25 runs of 1 cell are there" in capsys.readouterr().out
    assert main(["run", *SMOKE, "model=nau", "seeds=27"]) == 0
    assert "2 of 27 runs of 1 cell to train" in capsys.readouterr().out
    assert main(["status", *SMOKE, "model=nau", "seeds=60"]) == 0
    assert "50/60 runs, 10 missing" in capsys.readouterr().out


class Unlucky:
    """The models whose blocks fail, with which words, and those of all blocks that have begun."""

    def __init__(self) -> None:
        self.models = {"nac"}
        self.said = "out of luck"
        self.begun: list[str] = []


@pytest.fixture
def unlucky(monkeypatch: pytest.MonkeyPatch) -> Unlucky:
    """Every block of a NAC fails when it begins."""
    luck, start = Unlucky(), loop._Loop.__init__

    def begin(loop: loop._Loop, request: loop.Request, *rest: Any) -> None:
        luck.begun.append(request.cell.model.name)
        if request.cell.model.name in luck.models:
            raise RuntimeError(luck.said)
        start(loop, request, *rest)

    monkeypatch.setattr(loop._Loop, "__init__", begin)
    return luck


def test_a_failing_cell_costs_no_other_and_exits_with_1(
    home: Path, unlucky: Unlucky, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "-m", *SMOKE, "model=nac,nau"]) == 1
    error = capsys.readouterr().err
    assert "failed: ten_parameter operation=mul / nac seeds 0-24: RuntimeError: out of luck" in error
    failure = json.loads(next(home.glob("runs/*/nac/*/failures/0-24.json")).read_text())
    assert failure["seeds"] == list(range(25))
    assert "RuntimeError: out of luck" in failure["traceback"]
    assert len(list(home.glob("runs/*/nau/*/parts/0-24"))) == 1
    assert main(["status", "-m", *SMOKE, "model=nac,nau"]) == 0
    assert "0/2 runs, 2 failed" in capsys.readouterr().out
    unlucky.models.clear()
    assert main(["run", "-m", *SMOKE, "model=nac,nau"]) == 0
    assert main(["status", "-m", *SMOKE, "model=nac,nau"]) == 0
    assert "failed" not in capsys.readouterr().out


def test_an_error_with_half_a_letter_or_a_control_sign_is_told_and_reported(
    home: Path, unlucky: Unlucky, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names of files look so after `os.fsdecode`; a table of Parquet cannot hold them, and a terminal would obey."""
    unlucky.said = "no file \udcff.txt \x1b[31m"
    sweep = ["-m", *SMOKE, "model=nac,nau"]
    assert main(["run", *sweep]) == 1
    assert r"RuntimeError: no file \udcff.txt \x1b[31m" in capsys.readouterr().err
    assert main(["report", *sweep]) == 0
    assert "no file ?.txt" in next((home / "results/local/sweeps").rglob("runs.csv")).read_text()
    record = next(home.glob("runs/*/nac/*/failures/0-24.json"))
    record.write_text(json.dumps({"seeds": [0, 1], "reason": "", "again": "", "traceback": "why \ud800"}))
    assert main(["report", *sweep]) == 0


def test_a_failure_names_the_command_that_repeats_it_alone(
    home: Path, unlucky: Unlucky, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = ["run", "-m", *SMOKE, "model=nac,nau"]
    assert main([*sweep, "seeds=30"]) == 1
    told = capsys.readouterr().err
    (again, *_) = [line.partition("again: ")[2] for line in told.splitlines() if "again: " in line]
    record = json.loads(next(home.glob("runs/*/nac/*/failures/0-24.json")).read_text())
    assert record["again"] == again
    assert record["reason"] == "RuntimeError: out of luck"
    assert "the same command tries them again" in told
    unlucky.models.clear()
    unlucky.begun.clear()
    assert main(shlex.split(again)[1:]) == 0
    assert unlucky.begun == ["nac"]
    assert len(list(home.glob("runs/*/nac/*/parts/*"))) == 1


def test_a_report_that_cannot_be_written_hides_no_failure(
    home: Path, unlucky: Unlucky, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A disk that fills while blocks train may be full when they are reported, too."""

    def full(*_: object) -> None:
        raise UsageError("results cannot be written: No space left on device; make room.")

    monkeypatch.setattr(report, "written", full)
    assert main(["run", "-m", *SMOKE, "model=nac,nau"]) == 1
    assert "results cannot be written" in capsys.readouterr().err
    with pytest.raises(UsageError, match="results cannot be written"):
        nalu_bench.run(*SMOKE, "model=nac,nau")
    unlucky.models.clear()
    assert main(["run", "-m", *SMOKE, "model=nac,nau"]) == 2


def test_the_command_that_a_run_ends_with_reports_what_it_trained(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runner, "run_jobs", lambda *_, **__: [])
    words = ["budget=smoke", "model=nmu", "task.extrapolation=[2, 7]", "device.width=1", "committed=false"]
    assert main(["run", "madsen2020/table1", *words, "device.workers=1"]) == 0
    told = shlex.split(capsys.readouterr().out.splitlines()[-1])
    assert told == ["next:", "nalu-bench", "report", "madsen2020/table1", *words]


@pytest.mark.parametrize("address", ["", "zz"])
def test_only_must_begin_an_address(address: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "budget=smoke", "--only", address]) == 2
    assert f"--only must begin the address of a cell that is asked for, got '{address}'" in capsys.readouterr().err
    assert not (home / "runs").exists()


def test_only_may_name_several_cells(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep = ["-m", *SMOKE, "model=nac,nau,linear"]
    assert main(["status", *sweep]) == 0
    addresses = [line.split()[0] for line in capsys.readouterr().out.splitlines() if " / " in line]
    chosen = addresses[:2]
    assert main(["run", *sweep, *(word for address in chosen for word in ("--only", address[:8]))]) == 0
    assert sorted(path.parents[1].name for path in home.glob("runs/*/*/*/parts/*")) == sorted(chosen)


def test_only_what_failed_is_tried_again_and_the_first_failure_may_end_a_run(
    home: Path, unlucky: Unlucky, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = ["run", "-m", *SMOKE, "model=nac,nau"]
    monkeypatch.setattr(jobs, "MOST_TOGETHER", 1)
    monkeypatch.setattr(runner, "MOST_TOGETHER", 1)
    assert main([*sweep, "--fail-fast", "hydra/launcher=joblib"]) == 2
    assert "--fail-fast must go without a launcher" in capsys.readouterr().err
    assert main([*sweep, "--fail-fast"]) == 1
    assert not list(home.glob("runs/*/nau/*/parts/*"))
    unlucky.models.clear()
    capsys.readouterr()
    assert main([*sweep, "--only-failed"]) == 0
    assert "2 of 4 runs of 2 cells to train" in capsys.readouterr().out
    assert not list(home.glob("runs/*/nau/*/parts/*"))
    assert main([*sweep, "--only-failed"]) == 0
    assert "no block that is missing was chosen" in capsys.readouterr().out


def test_cuda_without_a_gpu_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    assert main(["run", *SMOKE[:2], "device=cuda"]) == 2
    assert "device=cuda needs a CUDA GPU" in capsys.readouterr().err


@pytest.mark.slow
def test_two_workers_store_the_same_bits_as_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pd = pytest.importorskip("pandas")
    arguments = ["run", "task=ten_parameter", "budget=smoke", "model=nmu", "seeds=30"]
    frames = []
    for workers in (1, 2):
        monkeypatch.setenv("NALU_BENCH_HOME", str(home / str(workers)))
        assert main([*arguments, f"device.workers={workers}"]) == 0
        parts = sorted((home / str(workers)).glob("runs/*/*/*/parts/*/curves.parquet"))
        frames.append(pd.concat([pd.read_parquet(part) for part in parts], ignore_index=True))
    pd.testing.assert_frame_equal(*frames, check_exact=True)


def group_lives(group: int) -> bool:
    """Whether any process of a process group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


THOROUGH = (pytest.mark.slow, pytest.mark.thorough)

ONE_SIGINT, ONE_SIGTERM, ONE_SIGHUP, ONE_SIGUSR1 = [signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP], [signal.SIGUSR1]


def hear() -> None:
    """A command that a test starts in the background, or under nohup, inherits deafness."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def begin(*arguments: str) -> "subprocess.Popen[bytes]":
    """A command that trains longer than any test, in a process group of its own."""
    long = ["task=ten_parameter", "seeds=50", "recipe.steps=2000000", "recipe.log_every=10", "compile=false"]
    return subprocess.Popen(
        [sys.executable, "-m", "nalu_bench", "run", *long, *arguments], stderr=subprocess.PIPE, start_new_session=True,
        preexec_fn=hear,
    )  # fmt: skip


def wait_until_at_work(home: Path, count: int) -> None:
    """Wait until so many blocks have made steps, as their leases tell."""
    leases: list[Lease | None] = []
    while sum(lease is not None and lease.step > 0 for lease in leases) < count:
        time.sleep(0.2)
        leases = [Lease.parsed(path.read_text()) for path in home.glob("runs/*/*/*/leases/[0-9]*.json")]


def wait_for_end_of_group(group: int) -> None:
    for _ in range(100):
        if not group_lives(group):
            return
        time.sleep(0.1)
    pytest.fail("a worker outlives its parent")


@pytest.mark.parametrize(
    ("workers", "signals"),
    [
        (1, ONE_SIGINT),
        pytest.param(2, ONE_SIGTERM, marks=THOROUGH),
        pytest.param(1, ONE_SIGHUP, marks=THOROUGH),
        pytest.param(2, 2 * ONE_SIGINT, marks=pytest.mark.slow),
        pytest.param(2, ONE_SIGUSR1, marks=THOROUGH),
        pytest.param(1, ONE_SIGTERM, marks=THOROUGH),
        pytest.param(1, [signal.SIGXCPU], marks=THOROUGH),
        pytest.param(2, [signal.SIGQUIT], marks=THOROUGH),
        pytest.param(2, ONE_SIGHUP, marks=THOROUGH),
        pytest.param(2, ONE_SIGINT, marks=THOROUGH),
    ],
)
def test_an_interrupted_run_saves_what_it_has_and_leaves_nothing_half_written(
    home: Path, workers: int, signals: list[signal.Signals]
) -> None:
    process = begin("model=nmu", f"device.workers={workers}")
    wait_until_at_work(home, workers)
    started = time.monotonic()
    for number in signals:
        os.killpg(process.pid, number)
        time.sleep(0.05)
    output = process.communicate(timeout=30)[1].decode()
    assert process.returncode == 128 + signals[0]
    assert time.monotonic() - started < 15  # 10 on a machine that does nothing else
    assert "the same command goes on" in output
    assert "Traceback" not in output
    assert not list(home.glob("runs/**/parts/*"))
    wait_for_end_of_group(process.pid)
    assert not list(home.glob("runs/**/*.tmp")) or len(signals) == 2
    if len(signals) == 1:
        steps = [json.loads(note.read_text())["step"] for note in sorted(home.glob("runs/**/checkpoints/*.json"))]
        assert max(steps) >= 1
        assert f"{len(steps)} kept by " in output
        assert all(f" at step {step:,}" in output for step in steps)


@pytest.mark.parametrize(
    ("module", "number"),
    [
        *((module, signal.SIGINT) for module in ("nalu_bench.cli", "pathlib", "hydra", "torch")),
        ("hydra", signal.SIGTERM),
        ("hydra", signal.SIGHUP),
    ],
)
def test_a_signal_before_training_ends_in_one_line(home: Path, module: str, number: signal.Signals) -> None:
    program = f"""if True:
        import os, sys
        class Signal:
            def find_spec(self, name, *rest):
                if name == {module!r}:
                    os.kill(os.getpid(), {int(number)})
        for name in ("pathlib", "nalu_bench.cli"):
            sys.modules.pop(name, None)
        sys.meta_path.insert(0, Signal())
        sys.argv = ["nalu-bench", "run", *{SMOKE!r}, "model=nmu"]
        from nalu_bench.__main__ import main
        sys.exit(main())"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, preexec_fn=hear)
    assert done.returncode == 128 + number
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("stopped before ")
    assert "nothing yet" in line
    assert not [path for path in home.rglob("*") if path.is_file()]


@pytest.mark.parametrize("moment", ["atexit", "memory"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_python_ends_leaves_the_exit_status(moment: str, number: signal.Signals) -> None:
    program = f"""if True:
        import atexit, os, sys
        class Signal:
            def send(self, kill=os.kill, me=os.getpid()):
                kill(me, {int(number)})
            if {moment!r} == "memory":
                __del__ = send
        sys.argv = ["nalu-bench", "list", "no_such_kind"]
        from nalu_bench.__main__ import main
        code = main()
        signal = Signal()
        if {moment!r} == "atexit":
            atexit.register(signal.send)
        sys.exit(code)"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False, preexec_fn=hear
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_full_disk_is_found_before_training(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert main(["run", *SMOKE, "model=nmu"]) == 2
    output = capsys.readouterr()
    assert f"error: the run store {home / 'runs'} must take new files" in output.err
    assert "to train" not in output.out


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGKILL, marks=pytest.mark.thorough),
        pytest.param(signal.SIGINT, marks=pytest.mark.thorough),
        pytest.param(signal.SIGHUP, marks=pytest.mark.thorough),
    ],
)
def test_jobs_of_joblib_save_when_the_command_is_asked_to_stop_and_end_when_it_is_killed(
    home: Path, number: signal.Signals
) -> None:
    process = begin("-m", "model=nau,nmu", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    wait_until_at_work(home, 2)
    os.kill(process.pid, number) if number == signal.SIGKILL else os.killpg(process.pid, number)
    output = process.communicate(timeout=30)[1].decode()
    wait_for_end_of_group(process.pid)
    if number != signal.SIGHUP:  # joblib's own tracker dies of it, and its heir complains
        assert "Traceback" not in output
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number
        assert " kept by checkpoints (" in output
        assert len(list(home.glob("runs/*/*/*/checkpoints/0-24.pt"))) == 2


def test_list_shows_every_kind_of_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == [
        "task:", "model:", "recipe:", "budget:", "device:", "unit:", "experiment:", "dataset:", "loss:", "measure:",
        "report:", "optimizer:", "schedule:", "clipping:", "updates:", "restart:", "kernels:", "streams:",
        "logger:",
    ]  # fmt: skip
    assert "nalu-bench list model" in last
    assert main(["list", "dataset"]) == 0
    assert "  mnist                      LeCun et al. 1998" in capsys.readouterr().out
    assert main(["list", "unit"]) == 0
    assert "nac_mul_sigma" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--help"], ["list"]])
def test_the_command_starts_at_once(arguments: list[str]) -> None:
    started = time.monotonic()
    subprocess.run([sys.executable, "-m", "nalu_bench", *arguments], check=True, capture_output=True)
    assert time.monotonic() - started < 3.0  # 0.1 and 0.3 s on an idle machine; torch alone would take 2


def test_the_page_of_run_names_the_groups_and_shows_three_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--help"]) == 0
    page = capsys.readouterr().out
    assert all(f"{group}=" in page for group in (*folders.GROUPS, "experiment", "seeds", "hydra/launcher"))
    assert page.count("  nalu-bench run ") == 3
    assert max(map(len, page.splitlines())) <= 100


def test_list_says_what_each_experiment_cost_and_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NALU_BENCH_HOME")
    assert main(["list", "experiment"]) == 0
    page = capsys.readouterr().out
    assert "Learning t = (x1 + x2)(x1 + x2 + x3 + x4)" in page
    assert "paper, 49 core-minutes: 5 agrees, 1 inconclusive, 6 not comparable" in page
    assert main(["list"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 100


@pytest.mark.parametrize("verb", ["report", "explain"])
def test_a_verb_about_an_experiment_asks_for_its_name(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb]) == 2
    first = ", ".join(experiment.names()[:2])
    assert f"error: {verb} needs the name of an experiment, one of {first}" in capsys.readouterr().err


def test_a_folder_whose_name_tables_cannot_have_is_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", os.fsdecode(os.fsencode(tmp_path) + b"/h\xf6me"))
    assert main(["run", *SMOKE]) == 2
    assert "must have a name in UTF-8" in capsys.readouterr().err


def test_a_limit_of_the_machine_ends_in_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(names, "names", full)
    assert main(["list"]) == 1
    assert "error: [Errno 24] Too many open files: there must be room" in capsys.readouterr().err

    def endless(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(names, "names", endless)
    assert main(["list"]) == 1
    assert capsys.readouterr().err == "error: memory must suffice for what was asked, and ran out; ask for less.\n"


def test_show_says_what_run_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "task.operation=foo"]) == 0
    shown = capsys.readouterr()
    assert "operation: foo" in shown.out
    assert "run refuses this: unknown operation 'foo'" in shown.err


def test_show_prints_what_is_named_and_no_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "model=nmu"]) == 0
    assert capsys.readouterr().out.startswith("# model=nmu: NAU, NMU (Madsen & Johansen 2020)")
    assert main(["show", "task=table", "task.data=a/b.csv", "task.targets=[y]"]) == 0
    assert "data: a/b.csv" in capsys.readouterr().out
    assert main(["show", "madsen2020/table1"]) == 2
    assert "nalu-bench status EXPERIMENT" in capsys.readouterr().err


def test_the_beginning_of_a_flag_is_no_flag(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--multi", "model=nau"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("usage: nalu-bench run [options]"), "the usage of the verb, not of the program"
    assert "unrecognized arguments: --multi" in told


@pytest.mark.parametrize(
    ("name", "value", "code", "told"),
    [
        ("TORCH_LOGS", "nonsense", 2, "error: torch cannot be imported here: "),
        pytest.param("TQDM_MININTERVAL", "abc", 2, "(TORCH_..., TQDM_...)", marks=pytest.mark.slow),
        pytest.param("SOURCE_DATE_EPOCH", "abc", 0, "it is left out", marks=THOROUGH),
        pytest.param("SOURCE_DATE_EPOCH", "1764172800000", 0, "it is left out", marks=pytest.mark.slow),
        pytest.param("SOURCE_DATE_EPOCH", "", 0, "", marks=THOROUGH),
    ],
)
def test_a_variable_that_a_library_cannot_read_is_named(
    name: str, value: str, code: int, told: str, home: Path
) -> None:
    words = ["run", "model=nau", "budget=smoke", "compile=false"]
    done = subprocess.run(
        [sys.executable, "-m", "nalu_bench", *words], env={**os.environ, name: value}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == code
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_current_folder_that_was_removed_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    script = f"cd {tmp_path / 'gone'} && rmdir ../gone && {sys.executable} -m nalu_bench show model=nau"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "the current folder has been removed; change to another one" in done.stderr
