"""Results that were edited by somebody who gives every file its new hash: `verify` names what the rest contradicts."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.analysis.measure.manifest import MANIFEST, sealed
from nalu_bench.plan.blocks import ranges_text
from nalu_bench.verify.folder import verify_results

TABLE1, TABLE5, TABLES = "madsen2020/table1", "trask2018/table5", "iit_report/tables"
IDENTITY = "iit_report/identity"
FIGURE, SUM, SERIES = "madsen2020/figure3a", "madsen2020/mnist_sum", "trask2018/table2"


class Folder:
    """A copy of committed results, to be edited: the manifest, the runs as text, the other tables by name."""

    def __init__(self, root: Path, name: str) -> None:
        self.path = root / name
        shutil.copytree(paths.CHECKOUT / "results" / name, self.path)
        self.manifest: dict[str, Any] = json.loads((self.path / MANIFEST).read_text(encoding="utf-8"))
        self.runs = pd.read_csv(self.path / "runs.csv", dtype=str, keep_default_na=False)
        self.tables = {path.stem: pd.read_parquet(path) for path in self.path.glob("*.parquet")}

    @property
    def unsolved(self) -> "pd.Series[bool]":
        return self.runs["solved"] == "False"

    def cell(self, **words: str) -> str:
        """The first cell whose runs have these words."""
        chosen = self.runs[np.logical_and.reduce([self.runs[name] == word for name, word in words.items()])]
        return str(chosen["cell"].iloc[0])

    def set(self, rows: "pd.Series[bool]", **values: str) -> None:
        self.runs.loc[rows, list(values)] = list(values.values())

    def without(self, rows: "pd.Series[bool]", *tables: str) -> None:
        """Drop these runs from some tables, or from all."""
        gone = set(zip(self.runs["cell"][rows], self.runs["seed"][rows], strict=True))
        for name in tables or self.tables:
            table = self.tables[name]
            keys = zip(table["cell"], table["seed"].astype(str), strict=True)
            self.tables[name] = table[[key not in gone for key in keys]]
        if not tables:
            self.runs = self.runs[~rows]

    def faults(self) -> list[str]:
        """Write everything with its hashes, and verify it."""
        self.runs.to_csv(self.path / "runs.csv", index=False, lineterminator="\n")
        for name, table in self.tables.items():
            table.to_parquet(self.path / f"{name}.parquet", index=False)
        self.manifest["runs"], self.manifest["files"] = len(self.runs), sealed(self.path)
        (self.path / MANIFEST).write_text(json.dumps(self.manifest), encoding="utf-8")
        return verify_results(self.path).faults


Edit = Callable[[Folder], None]

FORGERIES: list[Any] = []
"""An experiment, the forgery, and what `verify` must say."""


def forgery(name: str, *words: str) -> Callable[[Edit], Edit]:
    def listed(edit: Edit) -> Edit:
        FORGERIES.append(pytest.param(name, edit, words, id=f"{name}-{edit.__name__}"))
        return edit

    return listed


@forgery(
    TABLE1, "seed 0: status is skipped, and its model can do the task", "it has rows in curves, and no trained run"
)
@forgery(FIGURE, "status is skipped, and its model can do the task")
def unsolved_runs_skipped(folder: Folder) -> None:
    folder.set(folder.unsolved, status="skipped")


@forgery(TABLE1, "0-24 holds the seeds 8+15+24, and runs.csv has no trained run of them")
def unsolved_runs_failed_without_a_curve(folder: Folder) -> None:
    folder.without(folder.unsolved, "curves", "weights")
    folder.set(folder.unsolved, status="failed")


@forgery(TABLE1, "0-24 holds the seeds 8+15+24, and runs.csv has no trained run of them")
def unsolved_runs_left_out(folder: Folder) -> None:
    folder.without(folder.unsolved)


@forgery(TABLE1, "must have 25 seeds a block or more, got width 1")
def unsolved_runs_left_out_as_blocks_of_one(folder: Folder) -> None:
    folder.without(folder.unsolved)
    before, folder.manifest["parts"] = folder.manifest["parts"], {}
    for (cell, part), runs in folder.runs.groupby(["cell", "part"]):
        for seed in runs["seed"]:
            one = before[f"{cell}/{part}"] | {"seeds": seed, "width": 1}
            folder.manifest["parts"][f"{cell}/{seed}"] = one
    folder.runs["part"] = folder.runs["seed"]


@forgery(TABLE1, "must be a whole block, and holds the seeds")
@forgery("madsen2020/table2", "must be a whole block, and holds the seeds")
def unsolved_runs_left_out_of_their_parts(folder: Folder) -> None:
    folder.without(folder.unsolved)
    parts = {}
    for (cell, part), runs in folder.runs.groupby(["cell", "part"]):
        span = ranges_text(map(int, runs["seed"]))
        parts[f"{cell}/{span}"] = folder.manifest["parts"][f"{cell}/{part}"] | {"seeds": span}
        folder.runs.loc[runs.index, "part"] = span
    folder.manifest["parts"] = parts


@forgery(TABLE1, "committed results must be of the experiment as it stands, and these are of seeds=75")
def fewer_runs_by_a_word_of_the_budget(folder: Folder) -> None:
    folder.without(folder.runs["part"] == "75-99")
    folder.manifest["budget"] |= {"overrides": ["seeds=75"], "custom": True}
    folder.runs["asked"] = "75"
    for cell in folder.manifest["cells"].values():
        cell["seeds"] = 75


@forgery(TABLE1, "seeds is 90 in manifest.json, and must be 100", "asked is 90, and must be 100")
def fewer_runs_asked_for(folder: Folder) -> None:
    cell = folder.cell(model="nalu", solved="True")
    folder.manifest["cells"][cell]["seeds"] = 90
    folder.set(folder.runs["cell"] == cell, asked="90")


@forgery(TABLE1, "(ten_parameter operation=mul / nmu) is one of the plan's, and not in manifest.json")
def a_model_left_out(folder: Folder) -> None:
    cell = folder.cell(model="nmu", operation="mul")
    folder.without(folder.runs["cell"] == cell)
    del folder.manifest["cells"][cell]
    folder.manifest["parts"] = {key: part for key, part in folder.manifest["parts"].items() if cell not in key}


@forgery(TABLE1, "0-24 holds the seeds 0-24, and runs.csv has no trained run of them")
def a_model_without_runs(folder: Folder) -> None:
    folder.without(folder.runs["model"] == "nmu")


@forgery(TABLE1, "nobody asked for this seed")
def a_seed_beyond_those_asked_for(folder: Folder) -> None:
    folder.set(folder.runs["seed"] == "99", seed="150", part="150")


@forgery(TABLE1, "operation is add, and must be mul")
def another_operation(folder: Folder) -> None:
    folder.set(folder.unsolved, operation="add")


@forgery(FIGURE, "setting is hidden=9, and must be hidden=10")
def another_setting(folder: Folder) -> None:
    folder.set(folder.runs["setting"] == "hidden=10", setting="hidden=9")


@forgery(SERIES, 'role is "cell" in manifest.json, and must be "reference"', "role is cell, and must be reference")
def a_reference_among_the_cells(folder: Folder) -> None:
    cell = folder.cell(role="reference")
    folder.manifest["cells"][cell]["role"] = "cell"
    folder.set(folder.runs["cell"] == cell, role="cell")


@forgery(TABLE1, "criteria threshold is 1.0 in manifest.json, and must be 2.157364549e-06")
def another_threshold(folder: Folder) -> None:
    for cell in folder.manifest["cells"].values():
        cell["criteria"]["threshold"] = 1.0


@forgery(SUM, "criteria thresholds test_mse_1 is 1000.0 in manifest.json, and must be 0.663")
def another_threshold_of_the_references(folder: Folder) -> None:
    for cell in folder.manifest["cells"].values():
        if cell["criteria"]:
            cell["criteria"]["thresholds"]["test_mse_1"] = 1000.0


@forgery(TABLE1, "criteria threshold is nothing in manifest.json", "solved is not what its curve gives")
def no_criterion_and_all_solved(folder: Folder) -> None:
    for cell in folder.manifest["cells"].values():
        cell["criteria"] = {}
    folder.set(folder.runs["solved"] != "", solved="True", solved_at="1000")


@forgery(
    TABLES, "its runs have the column solved, which is none of its figures",
    "its runs have the column test_accuracy_0, which is none of its figures",
    "test_accuracy_1e-05 is 1, which test_accuracy_0.1 0 rules out", "which test_mse ",
)  # fmt: skip
def columns_that_no_task_measures_and_figures_that_rule_each_other_out(folder: Folder) -> None:
    errors = folder.runs["test_mse"]
    folder.runs["solved"] = "True"
    folder.runs["test_accuracy_0"] = errors.where(errors == "", "1.0")
    folder.runs["test_accuracy_0.1"] = "0.0"
    folder.runs["test_mse"] = (errors.astype(float) / 10).astype(str)


@forgery(SERIES, "errors is contradicted by its curve (test_digits_1 is 1, and 0.9934 in its curve)")
def a_tested_accuracy_that_the_curve_has(folder: Folder) -> None:
    folder.runs["test_digits_1"] = "1.0"


@forgery(SERIES, "its curves must have the figures that its task follows, and lack test_mse_1, ", "test_mse_1 is ")
def better_figures_of_the_test_without_their_curves(folder: Folder) -> None:
    curves = folder.tables["curves"]
    folder.tables["curves"] = curves.drop(columns=[name for name in curves if name.startswith("test_")])
    better = folder.runs["model"].str.contains("nalu")
    for name in (name for name in folder.runs if name.startswith("test_m")):
        errors = pd.to_numeric(folder.runs.loc[better, name]) * (1e-6 if "mse" in name else 1e-3)
        folder.runs.loc[better, name] = errors.map(lambda error: "" if pd.isna(error) else str(np.float32(error)))


@forgery(
    TABLE1, "its runs have the column extrapolation_accuracy, ", "its curves have extrapolation_accuracy, and its "
)
def a_followed_figure_that_no_task_measures(folder: Folder) -> None:
    for rows in (folder.runs, folder.tables["curves"]):
        rows["extrapolation_accuracy"] = 1.0


@forgery(TABLE1, "its runs have the column reinitialized, ", "its curves have reinitialized, and its ")
def new_weights_where_no_recipe_gives_them(folder: Folder) -> None:
    for rows in (folder.runs, folder.tables["curves"]):
        rows["reinitialized"] = 3.0


@forgery(SERIES, "its runs have the column test_digits_1000, which is none of its figures")
def a_figure_of_the_test_that_no_task_measures(folder: Folder) -> None:
    folder.runs["test_digits_1000"] = "1.0"


@forgery(TABLE1, "its runs that were not trained must have no solved, and have one")
def runs_that_failed_and_are_solved(folder: Folder) -> None:
    lost = folder.runs["part"] == "75-99"
    folder.without(lost, "curves", "weights")
    parts = folder.manifest["parts"]
    folder.manifest["parts"] = {name: part for name, part in parts.items() if not name.endswith("/75-99")}
    folder.runs.loc[lost, list(folder.runs.columns[10:])] = ""
    folder.set(lost, status="failed", solved="True")


@forgery(TABLE1, "runs have the column praise, which is a figure of no cell")
def a_column_without_a_value(folder: Folder) -> None:
    folder.runs["praise"] = ""


@forgery(TABLE1, "sparsity_error is 0.465207, and 0 by its weights")
@forgery(SERIES, "and 0 by its weights")
def perfect_weights(folder: Folder) -> None:
    rows = folder.tables["weights"]
    whole = [np.round(values) if kind == "weight" else values
             for kind, values in zip(rows["kind"], rows["values"], strict=True)]  # fmt: skip
    folder.tables["weights"] = rows.assign(values=whole)


@forgery(TABLE1, "sparsity_error is nan, and 0.465207 by its weights")
def sparsity_errors_left_blank(folder: Folder) -> None:
    curves = folder.tables["curves"]
    folder.tables["curves"] = curves.assign(sparsity_error=np.float32(np.nan))
    folder.runs["sparsity_error"] = ""


@forgery(TABLE1, "sparsity_error is 0.465207, and nan by its weights")
def weights_that_are_no_numbers(folder: Folder) -> None:
    weights = folder.tables["weights"]
    folder.tables["weights"] = weights.assign(values=[np.full_like(values, np.nan) for values in weights["values"]])


@forgery(SUM, "test_rounds_1000 is 7, which no network has")
def accuracies_above_1(folder: Folder) -> None:
    for rows in (folder.runs, folder.tables["curves"]):
        rows["test_rounds_1000"] = 7.0


@forgery(TABLE1, "extrapolation_mse is -1, which no network has")
def a_negative_error(folder: Folder) -> None:
    folder.runs["extrapolation_mse"] = folder.tables["curves"]["extrapolation_mse"] = -1.0


def at_selected(folder: Folder, column: str, value: float, seed: int | None = None) -> None:
    """Another value of one run of a cell, or of all of them, in their rows and in their curves."""
    cell = folder.runs.loc[folder.runs[column] != "", "cell"].iloc[0]
    for rows, written in ((folder.runs, str(value)), (folder.tables["curves"], value)):
        mine = (rows["cell"] == cell) & ((rows["seed"].astype(int) == seed) if seed is not None else True)
        rows.loc[mine, column] = written


@forgery("heim2020/simple", "extrapolation_mae_add is -1.5, which no network has")
def a_negative_error_of_a_tasks_own(folder: Folder) -> None:
    at_selected(folder, "extrapolation_mae_add", -1.5)


@forgery(
    TABLES, "seed 0: reinitialized is -3, which no network", "seed 0: sparsity_error is -0.25, which no network",
    "seed 1: reinitialized is 2.5, which no network", "seed 2: reinitialized is 501, which no network",
    "seed 3: reinitialized is 0, which no network",
)  # fmt: skip
def counts_of_restarts_that_no_recipe_gives(folder: Folder) -> None:
    at_selected(folder, "reinitialized", -3.0, seed=0)
    at_selected(folder, "sparsity_error", -0.25, seed=0)
    at_selected(folder, "reinitialized", 2.5, seed=1)
    at_selected(folder, "reinitialized", 501.0, seed=2)
    curves = folder.tables["curves"]
    early = (curves["seed"] == 3) & (curves["step"] == sorted(curves["step"].unique())[1])
    folder.tables["curves"] = curves.assign(reinitialized=curves["reinitialized"].mask(early, 1.0))


@forgery(SUM, "recurrent_weight is 0.5, and 1 by its weights", "input_weight is 1, and -0.866061 by its weights")
def other_scalars_of_the_network(folder: Folder) -> None:
    for rows in (folder.runs, folder.tables["curves"]):
        rows["recurrent_weight"], rows["input_weight"] = 0.5, 1.0


@forgery(TABLE1, "layers.1.W of its weights must be clamped as its unit does")
def weights_of_the_other_sign(folder: Folder) -> None:
    rows, nmus = folder.tables["weights"], folder.runs["cell"][folder.runs["model"] == "nmu"]
    mine = rows["cell"].isin(nmus) & (rows["name"] == "layers.1.W")
    rows.loc[mine, "values"] = -rows.loc[mine, "values"]


@forgery(TABLE1, "must be a gate from 0 to 1, and is ")
def gates_above_1(folder: Folder) -> None:
    rows = folder.tables["weights"]
    gates = rows["kind"] == "gate"
    rows.loc[gates, "values"] = 2 + rows.loc[gates, "values"]


@forgery(TABLE1, "must be a gate from 0 to 1, and is nan to nan")
def gates_of_runs_that_did_not_diverge_are_no_numbers(folder: Folder) -> None:
    rows = folder.tables["weights"]
    gates = rows["kind"] == "gate"
    rows.loc[gates, "values"] = np.nan * rows.loc[gates, "values"]


@forgery(TABLE1, "weights must have rows of all its runs, and has none of 0+2-4")
def weights_of_unsolved_runs_left_out(folder: Folder) -> None:
    folder.without(folder.unsolved, "weights")


@forgery(TABLE1, "its weights are {'layers.0.W': (2, 4)}, and those of its model {'layers.0.W': (2, 4), 'layers.1.W'")
def a_matrix_left_out(folder: Folder) -> None:
    folder.tables["weights"] = folder.tables["weights"].query("name != 'layers.1.W'")


@forgery(TABLE5, "target of its predictions are not those of its task", "cannot be made of its runs")
def targets_that_are_the_predictions(folder: Folder) -> None:
    rows = folder.tables["predictions"]
    folder.tables["predictions"] = rows.assign(target=rows["prediction"])


@forgery(TABLE5, "target of its predictions are not those of its task")
def probes_far_away_left_out(folder: Folder) -> None:
    folder.tables["predictions"] = folder.tables["predictions"].query("abs(target) <= 10")


@forgery(TABLE5, "predictions must have rows of all its runs, and has none of 50-74")
def predictions_of_some_parts_left_out(folder: Folder) -> None:
    folder.tables["predictions"] = folder.tables["predictions"].query("seed < 50")


@forgery(TABLE1, ": the seeds 0, 2 have one curve")
def a_copy_of_a_good_run(folder: Folder) -> None:
    curves, cell = folder.tables["curves"], folder.cell(model="nac_mul", seed="0")
    copied = curves[(curves["cell"] == cell) & (curves["seed"] == 2)].assign(seed=0)
    others = curves[(curves["cell"] != cell) | (curves["seed"] != 0)]
    folder.tables["curves"] = pd.concat([copied, others], ignore_index=True)


@forgery(FIGURE, "its curve must have a point at 0 and every 4,000 steps or more often")
@forgery(TABLE1, "its curve must have a point at 0 and every 1,000 steps or more often")
def points_of_curves_left_out(folder: Folder) -> None:
    folder.tables["curves"] = folder.tables["curves"].query("step % 8000 == 0")


@forgery(TABLE1, "must state torch in manifest.json")
def a_part_without_versions(folder: Folder) -> None:
    for part in folder.manifest["parts"].values():
        del part["torch"]


@forgery(TABLE1, "must hold a seed that was asked for, and none of 1000-1024 was")
def parts_of_seeds_that_nobody_asked_for(folder: Folder) -> None:
    cell, parts = folder.cell(model="nmu"), folder.manifest["parts"]
    parts[f"{cell}/1000-1024"] = parts[f"{cell}/75-99"] | {"seeds": "1000-1024"}
    folder.manifest["seconds"] = round(sum(part["seconds"] for part in parts.values()), 1)


@forgery(TABLE1, "award is an entry of manifest.json that no report writes", "states award in manifest.json, which no")
def entries_that_nobody_reads(folder: Folder) -> None:
    for entries in (folder.manifest, *folder.manifest["parts"].values()):
        entries["award"] = "best paper"


@forgery(TABLE1, "praise.md is in manifest.json, and no report writes it")
def a_file_of_no_report(folder: Folder) -> None:
    (folder.path / "praise.md").write_text("the best paper")


@forgery(TABLE1, "award is an", "runs have the column award", "weights must be left out where they have no rows")
def columns_and_files_without_a_row(folder: Folder) -> None:
    """Those of an experiment that trains nothing."""
    shutil.rmtree(folder.path)
    surface = Folder(folder.path.parents[1], "madsen2020/figure2")
    surface.runs["award"] = ""
    surface.tables["weights"] = pd.DataFrame({"anything": pd.Series([], dtype=str)})
    vars(folder).update(vars(surface))
    folder.manifest["award"] = ""


@forgery(TABLE1, "predictions must be left out where they have no rows, and report writes no such file")
def a_file_without_a_row(folder: Folder) -> None:
    folder.tables["predictions"] = pd.DataFrame({"anything": pd.Series([], dtype=str)})


@forgery(TABLE1, "it has rows in predictions, and its task keeps none")
def predictions_of_a_task_that_makes_none(folder: Folder) -> None:
    keys = folder.runs[["cell"]].assign(seed=folder.runs["seed"].astype("int32"))
    folder.tables["predictions"] = keys.assign(
        probe=np.int32(0), output=np.int32(0), label="1 x 1", target=np.float32(1), prediction=np.float32(1)
    )


@forgery(TABLE1, "seed 3: its run is of part 0-49, and must be of 0-24, which comes first")
def runs_chosen_among_two_parts(folder: Folder) -> None:
    cell, parts = folder.cell(model="nmu"), folder.manifest["parts"]
    parts[f"{cell}/0-49"] = parts[f"{cell}/0-24"] | {"seeds": "0-49", "width": 50}
    folder.set((folder.runs["cell"] == cell) & folder.runs["seed"].isin(["3", "7"]), part="0-49")


@forgery(TABLE1, "committed results must be those that report makes, and these are of 'leaderboard'")
def another_command_that_made_them(folder: Folder) -> None:
    folder.manifest["budget"]["verb"] = "leaderboard"


@forgery(TABLE1, "table1 must be a folder of its own, and is a link to ")
def a_link_to_another_experiment(folder: Folder) -> None:
    other = Folder(folder.path.parents[1], "madsen2020/figure2")
    shutil.rmtree(folder.path)
    folder.path.symlink_to(other.path)
    folder.manifest, folder.runs, folder.tables = other.manifest, other.runs, other.tables


@forgery(TABLE1, "its texts must be UTF-8, and one has '\\ud800'")
def a_letter_that_is_none(folder: Folder) -> None:
    for part in folder.manifest["parts"].values():
        part["processor"] = "CPU \ud800"


@forgery(TABLE1, "commit is none, and ")
def another_commit_of_a_run(folder: Folder) -> None:
    folder.runs["commit"] = "none"


@forgery(TABLE1, "seconds is 1.0 in manifest.json, and must be 2912.7")
def another_time(folder: Folder) -> None:
    folder.manifest["seconds"] = 1.0


@forgery(TABLE1, "budget seeds is 1000 in manifest.json, and must be 100", 'source is "another" in manifest.json')
def another_budget_and_source(folder: Folder) -> None:
    folder.manifest["budget"]["seeds"] = 1000
    folder.manifest["source"] = "another"


@forgery(TABLE1, "note is 'checked by hand', and must be ''")
def a_note_on_runs(folder: Folder) -> None:
    folder.runs["note"] = "checked by hand"


@forgery(TABLE1, "its runs have the column test_mse_7, which is none of its figures")
def a_column_of_no_figure(folder: Folder) -> None:
    folder.runs["test_mse_7"] = "0.1"


@forgery(TABLE1, "figure.csv is not what runs.csv and the printed numbers give")
def another_number_in_the_figure(folder: Folder) -> None:
    numbers = folder.path / "figure.csv"
    numbers.write_text(numbers.read_text().replace("0.9", "0.8", 1))


@forgery(TABLE1, "table.tex is not what runs.csv and the printed numbers give")
def a_table_left_out(folder: Folder) -> None:
    (folder.path / "table.tex").unlink()


@forgery(TABLE1, "parts must be a mapping of mappings in manifest.json, got [")
def cells_without_an_order(folder: Folder) -> None:
    folder.manifest["parts"] = [*folder.manifest["parts"]]


@forgery(TABLE1, "budget seeds is true in manifest.json, and must be 100", "solved must be True or False in runs.csv")
def truth_values_and_numbers_for_each_other(folder: Folder) -> None:
    folder.manifest["budget"]["seeds"] = True
    folder.runs["solved"] = folder.runs["solved"].map({"True": "1", "False": "0"})


@forgery(
    TABLE1, "custom is 0 in manifest.json, and must be false", "width is null in manifest.json, and must be nothing"
)
def numbers_that_only_python_takes_for_the_same(folder: Folder) -> None:
    folder.manifest["budget"] |= {"custom": 0, "width": None}


@forgery(TABLE1, "asked is 100.0, and must be 100", "'200000.0' for '200000' in line 2")
def counts_with_a_point(folder: Folder) -> None:
    folder.runs["asked"] = "100.0"
    folder.runs["last_step"] += ".0"


@forgery(
    TABLE1, "runs must have their rows in the order of the plan's cells and of seed", "curves must have their rows"
)
def rows_in_another_order(folder: Folder) -> None:
    folder.runs = folder.runs[::-1]
    folder.tables["curves"] = folder.tables["curves"][::-1]


@forgery(TABLE5, "predictions must have the columns cell, seed, probe, output, label, target, prediction, got")
def a_column_of_predictions_that_nothing_writes(folder: Folder) -> None:
    folder.tables["predictions"] = folder.tables["predictions"].assign(extra=1.0)


@forgery(TABLE1, "weights must have rows of its runs, whose parts have kept them")
@forgery("schlor2020/experiment2", "weights must have rows of its runs, whose parts have kept them")
def all_weights_left_out(folder: Folder) -> None:
    del folder.tables["weights"]
    (folder.path / "weights.parquet").unlink()


@forgery(TABLE5, "must state the file weights.parquet in manifest.json")
def all_weights_left_out_and_never_stored(folder: Folder) -> None:
    all_weights_left_out(folder)
    for part in folder.manifest["parts"].values():
        del part["files"]["weights.parquet"]


@forgery(TABLE5, "must state files in manifest.json")
def all_weights_left_out_and_no_files_stated(folder: Folder) -> None:
    all_weights_left_out(folder)
    for part in folder.manifest["parts"].values():
        del part["files"]


@forgery(IDENTITY, "predictions must have rows of all its runs, and has none of 0-24")
def all_predictions_left_out(folder: Folder) -> None:
    del folder.tables["predictions"]
    (folder.path / "predictions.parquet").unlink()


@forgery(TABLE5, "its weights must be of the kinds that its runs keep, and one is of the kind 'award'")
@forgery(TABLE1, "its weights must be of the kinds that its runs keep, and one is of the kind 'array'")
def weights_of_another_kind(folder: Folder) -> None:
    rows = folder.tables["weights"]
    kind = "array" if folder.path.name == "table1" else "award"
    folder.tables["weights"] = pd.concat([rows, rows.tail(1).assign(name="zz", kind=kind)], ignore_index=True)


@forgery(
    SUM, "states the file award.txt in manifest.json, which no", "must state a SHA-256 of weights.parquet in ",
    "as its data in manifest.json, got checked",
)  # fmt: skip
def files_and_data_of_parts_that_no_training_writes(folder: Folder) -> None:
    for part in folder.manifest["parts"].values():
        part |= {"files": part["files"] | {"award.txt": "best", "weights.parquet": ""}, "data": {"checked": "by hand"}}


@forgery(TABLE1, "states mode 'magic' in manifest.json", "states finished 'yesterday' in manifest.json")
def words_of_parts_that_no_training_writes(folder: Folder) -> None:
    for part in folder.manifest["parts"].values():
        part |= {"mode": "magic", "finished": "yesterday"}
    folder.runs["mode"] = "magic"


@forgery(TABLE1, "figure.png is not there; make it again")
def a_picture_left_out(folder: Folder) -> None:
    (folder.path / "figure.png").unlink()


@forgery("trask2018/figure5", "film.gif is not there; make it again")
def a_further_picture_left_out(folder: Folder) -> None:
    (folder.path / "film.gif").unlink()


@forgery(TABLE1, "sub must be a file of its own, and is a folder")
def a_folder_in_the_folder(folder: Folder) -> None:
    (folder.path / "sub").mkdir()


@forgery(TABLE1, "validation_mae is 1e+06, which validation_mse")
def a_point_of_a_curve_that_no_network_has(folder: Folder) -> None:
    curves = folder.tables["curves"]
    folder.tables["curves"] = curves.assign(validation_mae=curves["validation_mae"].where(curves["step"] != 5000, 1e6))


def _with_loss(folder: Folder, loss: float) -> None:
    """A loss of training at one step of the networks whose loss is the error alone."""
    curves, cell = folder.tables["curves"], folder.cell(model="nalu")
    chosen = (curves["cell"] == cell) & (curves["step"] == 5000)
    folder.tables["curves"] = curves.assign(train_loss=curves["train_loss"].where(~chosen, loss))


@forgery(TABLE1, "train_loss is -1, which no network has")
def a_negative_loss(folder: Folder) -> None:
    _with_loss(folder, -1.0)


@forgery(TABLE1, "finished at step 200,000, and its curve has a loss up to step 200,000 and none at step 5,000")
def an_infinite_loss(folder: Folder) -> None:
    _with_loss(folder, np.inf)


@forgery(TABLE1, "its curve has a loss of training before the first step")
def a_loss_before_the_first_step(folder: Folder) -> None:
    curves = folder.tables["curves"]
    folder.tables["curves"] = curves.assign(train_loss=curves["train_loss"].where(curves["step"] > 0, 1.0))


@forgery(TABLE5, "diverged at step", "is selected")
def a_step_after_the_divergence(folder: Folder) -> None:
    folder.set(folder.runs["status"] == "diverged", selected_step="9000")


@forgery(TABLE1, "states finished '2026-02-31T12:00:00Z' in manifest.json, which no training writes")
def a_day_that_there_was_not(folder: Folder) -> None:
    for part in folder.manifest["parts"].values():
        part["finished"] = "2026-02-31T12:00:00Z"


@forgery(TABLE1, "states finished '2999-01-01T12:00:00Z' in manifest.json, which is yet to come: a clock is wrong")
def a_day_that_has_not_been(folder: Folder) -> None:
    for part in folder.manifest["parts"].values():
        part["finished"] = "2999-01-01T12:00:00Z"


@forgery(TABLE1, "its folder is madsen2020/table3, and must be madsen2020/table1")
def the_name_of_another_experiment(folder: Folder) -> None:
    folder.path = folder.path.rename(folder.path.with_name("table3"))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "edit", "words"), FORGERIES)
def test_a_forgery_with_matching_hashes_is_named(name: str, edit: Edit, words: tuple[str, ...], tmp_path: Path) -> None:
    folder = Folder(tmp_path, name)
    edit(folder)
    faults = folder.faults()
    for each in words:
        assert any(each in fault for fault in faults), (each, faults[:5])


def another_processor(folder: Folder) -> None:
    for part in folder.manifest["parts"].values():
        part["processor"] = "another"


def another_picture(folder: Folder) -> None:
    shutil.copy(paths.CHECKOUT / "results" / FIGURE / "figure.png", folder.path)


def weights_left_out_of_parts_that_are_made_to_look_like_the_oldest(folder: Folder) -> None:
    del folder.tables["weights"]
    (folder.path / "weights.parquet").unlink()
    for part in folder.manifest["parts"].values():
        part["finished"] = "2026-11-21T12:00:00Z"
        for key in ("files", "width"):
            part.pop(key, None)


def points_between_the_facts(folder: Folder) -> None:
    curves = folder.tables["curves"]
    early = (curves["step"] == 3000) & (curves["validation_mae"] > 1)
    folder.tables["curves"] = curves.assign(train_loss=curves["train_loss"].where(~early, 0.5))


def cells_exchanged(folder: Folder) -> None:
    """The runs of two models with the same shapes on one operation."""
    first, second = (folder.cell(operation="mul", model=model) for model in ("nmu", "nac_mul"))
    other = {first: second, second: first}
    words = ["role", "task", "setting", "operation", "model", "cell"]
    told = folder.runs.drop_duplicates("cell").set_index("cell", drop=False)[words].to_dict("index")
    order = {cell: number for number, cell in enumerate(folder.runs["cell"].unique())}
    for row, cell in folder.runs["cell"].items():
        folder.runs.loc[row, words] = told[other.get(cell, cell)]
    folder.runs = _sorted(folder.runs, order)
    for name, table in folder.tables.items():
        folder.tables[name] = _sorted(table.assign(cell=table["cell"].replace(other)), order)
    for part, theirs in list(folder.manifest["parts"].items()):
        cell, seeds = part.split("/")
        if cell == first and (mine := f"{second}/{seeds}") in folder.manifest["parts"]:
            parts = folder.manifest["parts"]
            parts[part], parts[mine] = parts[mine], theirs


def a_cell_copied(folder: Folder) -> None:
    """The runs of a model are entered for another one with the same shapes, beside its own."""
    first, second = (folder.cell(operation="mul", model=model) for model in ("nmu", "nac_mul"))
    runs, mine = folder.runs, folder.runs["cell"] == second
    words = ["role", "task", "setting", "operation", "model", "cell"]
    columns = [column for column in runs if column not in words]
    runs.loc[mine, columns] = runs.loc[runs["cell"] == first, columns].to_numpy()
    order = {cell: number for number, cell in enumerate(runs["cell"].unique())}
    for name, table in folder.tables.items():
        copied = table[table["cell"] == first].assign(cell=second)
        folder.tables[name] = _sorted(pd.concat([table[table["cell"] != second], copied]), order)
    parts = folder.manifest["parts"]
    parts |= {name.replace(first, second): part for name, part in parts.items() if name.startswith(first)}
    folder.manifest["seconds"] = round(sum(part["seconds"] for part in parts.values()), 1)


def seeds_exchanged(folder: Folder) -> None:
    """Two seeds of a cell exchange all that is kept of them."""
    cell, other = folder.cell(model="nmu"), {"0": "2", "2": "0"}
    order = {name: number for number, name in enumerate(folder.runs["cell"].unique())}
    for name, table in {"runs": folder.runs, **folder.tables}.items():
        seeds = table["seed"].astype(str)
        new = seeds.where(table["cell"] != cell, seeds.replace(other)).astype(table["seed"].dtype)
        keys = (
            table.assign(seed=new, key=new.astype(int)).sort_values(["cell", "key"], kind="stable").drop(columns="key")
        )
        sorted_ = _sorted(keys, order)
        if name == "runs":
            folder.runs = sorted_
        else:
            folder.tables[name] = sorted_


def _sorted(table: pd.DataFrame, order: dict[str, int]) -> pd.DataFrame:
    return table.sort_values("cell", key=lambda cells: cells.map(order), kind="stable").reset_index(drop=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "edit",
    [
        another_processor,
        another_picture,
        points_between_the_facts,
        cells_exchanged,
        a_cell_copied,
        seeds_exchanged,
        weights_left_out_of_parts_that_are_made_to_look_like_the_oldest,
    ],
)
def test_what_nothing_that_is_kept_contradicts_passes_as_the_table_of_faults_says(edit: Edit, tmp_path: Path) -> None:
    folder = Folder(tmp_path, TABLE1)
    edit(folder)
    tables = "is not what runs.csv and the printed numbers give"  # a forger makes them again
    assert not [fault for fault in folder.faults() if tables not in fault]
