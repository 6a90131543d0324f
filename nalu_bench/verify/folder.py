"""Results and run stores against themselves: files against manifests, runs against the plan and their curves."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nalu_bench.analysis import folders, results
from nalu_bench.analysis.described import departures, entries, judges, seconds
from nalu_bench.analysis.folders import LOCAL
from nalu_bench.analysis.measure.agree import disagreements, part_faults
from nalu_bench.analysis.measure.manifest import MANIFEST, overrides, read_manifest, sealed, stand_ins
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.measure.read import MEASURED, RUNS_FILE, parse
from nalu_bench.analysis.measure.recheck import Check, findings
from nalu_bench.analysis.render import style
from nalu_bench.analysis.report import TABLES, Report
from nalu_bench.analysis.reports.kind import Kind
from nalu_bench.errors import UsageError, damage_named, unknown
from nalu_bench.files import folders_below
from nalu_bench.plan.compose import Plan
from nalu_bench.plan.sweep import FOLDER
from nalu_bench.store import schema
from nalu_bench.store.finished import Finished, in_cells, in_results
from nalu_bench.store.integrity import file_faults, links
from nalu_bench.verify.bounds import impossible
from nalu_bench.verify.columns import column_faults
from nalu_bench.verify.facts import wrong_facts
from nalu_bench.verify.networks import network_faults
from nalu_bench.verify.planned import plan_of
from nalu_bench.verify.points import copies, lost_points
from nalu_bench.verify.rows import form_faults
from nalu_bench.verify.stated import stated_faults
from nalu_bench.verify.store import cells, verify_cells
from nalu_bench.verify.verified import Verified

WRITTEN = (RUNS_FILE, *TABLES, results.NUMBERS, *results.FIGURES)
"""Files that only results have."""

RESTORE = "restore this folder from git, or delete it to have it made again"


def targets(asked: Sequence[str], home: Path) -> dict[str, Path]:
    """Name -> folder of everything asked for: experiments with results below `home`, or folders; all of `home` if none.

    Raises:
        UsageError for what is neither.
    """
    known = dict(_folders(home))
    named = dict(_folders(home / LOCAL)) | known if asked else {}
    found: dict[str, Path] = {}
    for text in asked:
        if text in named:
            found[text] = named[text]
        elif os.path.isdir(text):
            below = [*_folders(Path(text) / "results")] or [*_folders(Path(text))]
            found |= {str(path): path for _, path in below} or {text: Path(text)}
        elif not known:
            raise UsageError(
                f"{text!r} must be a folder or an experiment with results, and {home} holds none "
                "(NALU_BENCH_HOME moves it)."
            )
        else:
            raise unknown("folder or experiment with results", text, known)
    if not asked and not known:
        raise UsageError(f"{home} must hold results to verify, and holds none (NALU_BENCH_HOME moves it).")
    return found if asked else known


def _folders(home: Path) -> Iterator[tuple[str, Path]]:
    """(experiment, folder) of all committed results below a folder."""
    for path in folders_below(home, 2) if home.is_dir() else ():
        if path.parts[-2] != LOCAL and _holds_results(path):
            yield path.relative_to(home).as_posix(), path


def finished(folder: Path) -> Iterator[Finished]:
    """The finished blocks of a folder of results, a run store, or the folder of one of its cells."""
    stated = _holds_results(folder) and (folder / MANIFEST).exists()
    return in_results(folder) if stated else in_cells(cells(folder))


def _holds_results(folder: Path) -> bool:
    """Whether a folder has a manifest or a file of results; a part of a run store has a manifest, too."""
    return any((folder / name).exists() for name in (MANIFEST, *WRITTEN)) and not (folder / schema.RUNS).exists()


def verify(folder: Path) -> Verified:
    """Check a folder of results, a run store, or the folder of one of its cells.

    Raises:
        UsageError if the folder is none of these.
    """
    if _holds_results(folder):
        return verify_results(folder)
    found = list(cells(folder))
    if not found and any(folder.glob("*/*/*/checkpoints")):
        return Verified()  # nothing of it is finished yet
    if not found:
        raise UsageError(f"{folder} must be a folder of results, a run store or the folder of a cell, and is none.")
    return verify_cells(found)


def verify_results(folder: Path) -> Verified:
    """Check files against the manifest, the manifest against the plan, runs against both and their curves, tables.

    Files are hashed once. What is damaged is named, and the rest is checked.
    """
    faults: list[str] = []
    try:
        manifest = read_manifest(folder)
        if manifest is None:
            raise UsageError(f"{folder} must have a {MANIFEST}; restore it from git, or remove the folder")
        stated, present = manifest["files"], sealed(folder)
        faults += [] if results.is_local(folder) else _uncommittable(manifest)
        if folder.is_symlink():
            faults.append(f"{folder.name} must be a folder of its own, and is a link to {folder.resolve()}; {RESTORE}")
        faults += [f"{fault}; {RESTORE}" for fault in (*links(folder), *file_faults(stated, present, MANIFEST))]
        matching = sum(present.get(name) == digest for name, digest in stated.items())
        measured = parse(folder, manifest)
        plan = plan_of(manifest)
        with damage_named(folder, RESTORE):
            checks = list(findings(measured, manifest))
            for line in _contradictions(folder, measured, plan):
                faults.append(f"{line}; {RESTORE}")
    except UsageError as error:
        return Verified(faults=[*faults, str(error)])
    except Exception as error:  # an edited file may hold values that no code expects; the other folders are checked
        return Verified(faults=[*faults, f"{folder} cannot be read to its end ({error!r}); {RESTORE}"])
    faults += [f"{one.describe()}; {RESTORE}" for one in checks if one.check == Check.CONTRADICTED]
    faults += _table_faults(folder, measured)
    trained = sum(1 for one in checks if one.fact == "status")
    return Verified(matching, trained, Counter(str(one.check) for one in checks), faults)


def _uncommittable(manifest: dict[str, Any]) -> Iterator[str]:
    """A line for what is never among committed results: other commands, words of a user, data in place of others."""
    if data := stand_ins(manifest):
        yield f"committed results must be of the source's data, and these are of {data}; delete this folder"
    if verb := manifest["budget"].get("verb"):
        yield f"committed results must be those that report makes, and these are of {verb!r:.40}; {RESTORE}"
    if (words := overrides(manifest)) and not manifest["experiment"].startswith(f"{FOLDER}/"):
        yield f"committed results must be of the experiment as it stands, and these are of {' '.join(words)}; {RESTORE}"


def _contradictions(folder: Path, measured: Measured, plan: Plan) -> Iterator[str]:
    """A line for everything in a folder that the plan, the parts, the curves or the kept networks contradict."""
    kind, manifest = results.kind_of(plan.experiment), measured.manifest
    name = plan.experiment.name
    if (found := "/".join(folder.resolve().parts[-2:])) != name:
        yield f"its folder is {found}, and must be {name}"
    stated = {
        "source": plan.experiment.source, "budget": results.budget_of(plan), "seconds": seconds(manifest["parts"]),
        "cells": entries(kind, plan.cells, judges(plan.cells, measured.runs)),
    }  # fmt: skip
    yield from form_faults(folder, measured, plan.cells)
    yield from departures(manifest, stated)
    yield from disagreements(measured, manifest, plan.cells)
    yield from part_faults(measured, manifest, plan.cells, plan.machine.width)
    yield from stated_faults(manifest, plan.cells)
    yield from column_faults(measured, plan.cells)
    yield from lost_points(measured, kind.points)
    yield from copies(measured.curves)
    yield from impossible(measured, plan.cells)
    yield from network_faults(measured, plan.cells)
    yield from wrong_facts(measured, kind, plan.cells)


def _table_faults(folder: Path, measured: Measured) -> Iterator[str]:
    """A line for every table, and for the numbers of the figure, that are not what the runs and printed numbers give.

    Another for every file that no report writes, although the manifest holds its hash.

    Pictures are not compared: their bytes depend on the version of the library that draws them.
    """
    name = measured.manifest["experiment"]
    again = f"make it again: nalu-bench report {name}"
    try:
        kind = results.kind_of(folders.experiment_of(measured.manifest))
        texts = _texts(kind, measured)
        pictures = {*results.FIGURES, *kind.pictures(measured.trained)}
    except Exception as error:  # runs that are edited may give no table at all
        yield f"the tables of {name} cannot be made of its runs ({error}); {RESTORE}"
        return
    for file in sorted(measured.manifest["files"].keys() - {*MEASURED, *texts, *pictures}):
        yield f"{file} is in manifest.json, and no report writes it; delete it, and {again}"
    for file in sorted(pictures - measured.manifest["files"].keys()):
        yield f"{file} is not there; {again}"
    for file, text in texts.items():
        path = folder / file
        if not path.is_file() or path.read_bytes() != text.encode():
            yield f"{file} is not what runs.csv and the printed numbers give; {again}"


def _texts(kind: Kind, measured: Measured) -> dict[str, str]:
    """File -> contents of everything in a report that is text."""
    report = Report.of(kind, measured)
    with style.applied():
        drawn = results.draw(kind, measured, report.lines)[1]
    return report.texts() | {results.NUMBERS: results.numbers_text(drawn)}
