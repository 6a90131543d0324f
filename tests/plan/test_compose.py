"""Composition of configurations, and the errors a user meets."""

from pathlib import Path

import pytest

from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, experiment, grammar
from nalu_bench.plan.experiment import CellGroup


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["task=arithmetik"], "did you mean 'arithmetic'"),
        (["model=nmuu"], "did you mean 'nmu'"),
        (["recipe=madsen"], "did you mean 'madsen2020'"),
        (["budget=papr"], "did you mean 'paper'"),
        (["device=gpu"], "Known: cpu, cuda"),
        (["task.operation=mull"], "did you mean 'mul'"),
        (["recipe.optimizer=adma"], "did you mean 'adam'"),
        (["+typo=1"], "unknown key 'typo'"),
        (["++typo=1"], "unknown key 'typo'"),
        (["model.hiden_size=3"], "did you mean 'model.hidden_size'"),
        (["+model.hiden_size=3"], "did you mean 'model.hidden_size'"),
        (["seeds=0"], "seeds must be at least 1, got 0"),
        (["seeds=-1"], "seeds must be at least 1, got -1"),
        (["seeds=abc"], "seeds must be a whole number, got 'abc'"),
        (["first_seed=-1"], "first_seed must be at least 0, got -1"),
        (["device.workers=0"], "device.workers must be from 1 to 1,024, got 0"),
        (["task.subset_ratio=0.9"], "need 135 inputs, got task.features=100"),
        (["task.subset_ratio=0.001"], "a subset must hold at least 1 input"),
        (["task.overlap_ratio=1.5"], "task.overlap_ratio must lie between 0 and 1, got 1.5"),
        (["task.extrapolation=${task.extrapolation}"], "task.extrapolation: Recursive interpolation detected"),
        (["task@foo=arithmetic"], "an override must look like key=value, got 'task@foo=arithmetic'"),
        (["device.width=100000000"], "device.width must be from 1 to 10,000, got 100,000,000"),
        (["device.workers=100000000"], "device.workers must be from 1 to 1,024, got 100,000,000"),
        (["task=identity", "task.probed=20000000"], "task.probed must be at most 100,000, got 20,000,000"),
        (
            ["model.penalties={sparsity:{weight:1,begin:0}}"],
            "unknown key of model.penalties 'begin'; did you mean 'end'? Known: below, end, falling, most, start, "
            "tenfold_every, weight",
        ),
        (
            ["model.penalties.sparsity={weight:1,begin:0}"],
            "unknown key of model.penalties.sparsity 'begin'; did you mean 'end'?",
        ),
        (
            ["model.penalties.sparsity={weight:1}"],
            "model.penalties.sparsity.end, model.penalties.sparsity.start must be",
        ),
        (["model=nau,,nmu"], "a value must stand before and after every comma, got 'nau,,nmu'"),
        (["task=table", "task.data=data (1).csv"], """needs quotes of its own: 'task.data="data (1).csv"'"""),
        (["task.interpolation=[1,1e300]"], "task.interpolation must be a number up to 3e38, got 1e+300"),
        (["task.interpolation=[1,1e30]"], "must give targets up to 1e+15"),
        (
            ["task.operation=add", "model=nau", "task.extrapolation=[1e30,2e30]"],
            "must give targets up to 1e+15",
        ),
        (
            ["task=inalu_arithmetic", "task.interpolation=[exponential,1e-30]"],
            "task.interpolation must be at least 1.2e-19",
        ),
        (["task=inalu_arithmetic", "task.interpolation=[normal,16777216,16777218]"], "must hold at least 100 numbers"),
        (["task=inalu_arithmetic", "task.interpolation=[two_normals,1e8,1e-3]"], "must hold at least 100 numbers"),
        (["task=inalu_arithmetic", "task.interpolation=[cut_normal,0,1,5,6]"], "must leave enough of the normal"),
        (
            ["task=inalu_arithmetic", "task.operation=mul", "task.extrapolation=[exponential,1e30]"],
            "must give targets up to 1e+15",
        ),
        (["task=npu_simple", "model=heim_dense", "task.signed=[-1e30,1e29,1e30]"], "must give targets up to 1e+15"),
        (
            ["task=npu_simple", "model=heim_dense", "task.signed=[16777216,0.1,16777220]"],
            "must have at most nine decimals, and steps",
        ),
        (
            ["task=npu_simple", "model=heim_dense", "task.positive=[1.5e-9,1e-9,5.5e-9]"],
            "must have at most nine decimals, and steps",
        ),
        (["recipe.loss=cross_entropy"], "recipe.loss=cross_entropy must get 2 outputs or more"),
        (["task.interpolation=[1e-30,1e-29]"], "task.interpolation must be at least 1.2e-19 wide"),
        (["task.interpolation=[1e-15,2e-15]"], "must give targets whose squares single precision holds (1e-38)"),
        (["task.interpolation=[1,1.0000000001]"], "must hold at least 100 numbers of single precision"),
        (["task.interpolation=[false,true]"], "task.interpolation must be [low,high] or [[low,high],[low,high]]"),
        (["recipe.learning_rate=1e39"], "recipe.learning_rate must be a number up to 3e38, got 1e+39"),
        (["committed=7"], "committed must be true or false, got '7'"),
        (["recipe.beta2=0.99999999999"], "recipe.beta2 must lie in [0, 1) in single precision, too"),
        (["мод=nau"], "a key consists of letters from a to z, digits, '_' and '.', got 'мод'"),
        (["recipe.clip_at=0.5"], "recipe.clip_at has no effect with recipe.clipping=none; set that, too"),
        (["recipe.optimizer=sgd", "recipe.beta2=0.9"], "recipe.beta2 has no effect with recipe.optimizer=sgd"),
        (["recipe.reinitialize_times=3"], "recipe.reinitialize_times has no effect with recipe.reinitialize_after=0"),
        (
            ["task=number_words", "model=text_lstm", "recipe.evaluation_size=5"],
            "no effect with task=number_words, whose",
        ),
        (["model=single_nac", "recipe.ramp_scale=0.5"], "recipe.ramp_scale has no effect with model=single_nac"),
        (["hydra.run.dir=x"], "must be one that a launcher reads, hydra/launcher, hydra.launcher, "),
        (["hydra.sweeper.params={seeds:1}"], "hydra.job.chdir, got 'hydra.sweeper.params={seeds:1}'; leave it out"),
        (['task.interpolation=[1,"1_0"]'], "task.interpolation must be [low,high] or [[low,high],[low,high]]"),
        (["recipe.epsilon=1e-50"], "recipe.epsilon must be 1.2e-38 or more in size, as single precision needs"),
        ([f"task.features={10**40}"], "task.features must be at most 2,147,483,647, got a number of 41 digits"),
        (["recipe.steps=1000000000", "recipe.log_every=1"], "must be at most 1,000,000 evaluations"),
        (["task.interpolation=[2,1]"], "task.interpolation must have low < high in every interval, got [2,1]"),
        (["task.extrapolation=[2,2]"], "task.extrapolation must have low < high in every interval, got [2,2]"),
        (["task.interpolation=3"], "must be [low,high]"),
        (["task.interpolation=[[1,2]]"], "task.interpolation must be written [low,high] if it is one interval"),
        (
            ["task=recurrent_arithmetic", "model=rnn_nac", "task.extrapolation_length=1000000"],
            "task.extrapolation_length must be at most 10,000, got 1,000,000",
        ),
        (["task=identity_integers", "model=mlp", "task.reach=9000000"], "task.reach must be at most 8,388,608"),
        (["recipe.steps=1500"], "recipe.steps must be a multiple of recipe.log_every (1000), got 1500"),
        (["task.operation=sqrt", "task.interpolation=[-1,1]"], "sqrt needs sums that cannot be negative"),
        (["task.operation=mul,add"], "add -m to `run`, `status` or `report` of a task"),
        (["model.layers=[]"], "model.layers must name 2 units, got 0"),
        (["steps=100"], "did you mean 'recipe.steps'"),
        (["model.penalties.sparsty.weight=1"], "did you mean 'model.penalties.sparsity.weight'"),
        (
            ["model.penalties.sparsity=0.5"],
            "model.penalties.sparsity holds weight, start, end, below, falling, tenfold_every, most: set one of them, "
            "as in model.penalties.sparsity.weight=0.5",
        ),
        (["recipe.learning_rate=inf"], "recipe.learning_rate must be a number up to 3e38, got inf"),
        (["recipe.batch_size=0"], "recipe.batch_size must be above 0"),
        (["budget.steps=-5"], "steps must be at least 0, got -5"),
        (
            ["task=grid_world", "model=agent_lstm", "recipe.loss=rmse"],
            "no effect with task=grid_world, which has",
        ),
        (
            ["recipe.restart=halves", "recipe.reinitialize_after=2", "recipe.reinitialize_counting=in_total"],
            "recipe.reinitialize_counting has no effect with recipe.restart=halves",
        ),
        (
            ["model.penalties.sparsity.weight=nan"],
            "model.penalties.sparsity.weight must be a number up to 3e38, got nan",
        ),
        (["model.penalties.sparsity.start=3000000"], "must have 0 <= start <= end"),
        (["task.name=../../evil"], "task.name names a configuration and cannot be set"),
        (["device.name=gpu"], "device.name names a configuration and cannot be set"),
        (["device.workers=${x}"], "Interpolation key 'x' not found"),
        (["device.workers=abc"], "device.workers must be a whole number or null, got 'abc'"),
        (["seeds="], "seeds must be a whole number, got ''"),
        (["model="], "unknown model"),
        (["task.operation=[mul]"], "task.operation must be a text, got"),
        (["task.interpolation=[a,b]"], "must be [low,high]"),
        (["nonsense"], "must look like key=value, got 'nonsense'"),
        (["task.operation=["], "cannot read 'task.operation=["),
    ],
)
def test_a_wrong_request_says_what_must_hold_and_what_was_given(arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        compose.plan_cells(arguments, multirun=False)
    assert message in str(caught.value)


def test_the_steps_of_an_experiment_are_a_number() -> None:
    with pytest.raises(UsageError, match=r"budget\.steps must be a whole number, got 'abc'"):
        compose.plan_experiment(experiment.load("madsen2020/table1"), ["budget=smoke", "budget.steps=abc"])


def test_two_values_of_a_sweep_that_ask_for_the_same_runs_are_refused(tmp_path: Path) -> None:
    rows = "a,y\n" + "".join(f"{row},{2 * row}\n" for row in range(40))
    for name in ("one", "copy"):
        (tmp_path / f"{name}.csv").write_text(rows)
    tables = f"task.data={tmp_path}/one.csv,{tmp_path}/copy.csv"
    told = r"task\.data=.*one\.csv and .*copy\.csv ask for the same"
    with pytest.raises(UsageError, match=told):
        compose.plan_cells(["task=table", tables, "task.targets=[y]", "model=linear", "recipe=table"], multirun=True)
    both = compose.plan_cells(["task=ten_parameter", "model=nau", "first_seed=0,100"], multirun=True)
    assert len(both.cells) == 1, "sets of seeds are united"


def test_a_sweep_has_a_cell_for_every_combination() -> None:
    plan = compose.plan_cells(["task.operation=mul,add", "model=nmu,nac,nalu", "seeds=3"], multirun=True)
    found = [(want.cell.task.setting()["operation"], want.cell.model.name, len(want.seeds)) for want in plan.cells]
    assert found == [(op, model, 3) for op in ("mul", "add") for model in ("nmu", "nac", "nalu")]


def test_the_cells_of_a_sweep_are_told_apart_by_the_values_that_it_sweeps() -> None:
    swept = ["task=ten_parameter", "task.operation=mul,add", "recipe.learning_rate=0.001,0.01", "model=nmu", "seeds=3"]
    labels = [want.label() for want in compose.plan_cells(swept, multirun=True).cells]
    assert labels == [
        f"ten_parameter operation={operation} learning_rate={rate} / nmu"
        for operation in ("mul", "add")
        for rate in ("0.001", "0.01")
    ]
    (first, _) = compose.plan_cells(["model=nmu", "model.penalties.sparsity.weight=1,2"], multirun=True).cells
    assert first.label() == "arithmetic operation=mul sparsity.weight=1 / nmu"
    (alone,) = compose.plan_cells(["recipe.learning_rate=0.001", "task.operation=mul", "model=nmu"], True).cells
    assert alone.label() == "arithmetic operation=mul / nmu"


def test_two_intervals_can_be_given_on_the_command_line() -> None:
    plan = compose.plan_cells(["task.extrapolation=[[-6,-2],[2,6]]"], multirun=False)
    assert plan.cells[0].cell.task.intervals("extrapolation").tolist() == [[-6, -2], [2, 6]]


def test_budget_seeds_and_machine_are_no_part_of_the_identity() -> None:
    first = compose.plan_cells(["budget=short", "seeds=3", "device.workers=1", "compile=false"], multirun=False)
    second = compose.plan_cells(
        ["budget=paper", "budget.steps=50_000", "budget.ramp_scale=0.01", "first_seed=7"], multirun=False
    )
    assert first.cells[0].cell.digest == second.cells[0].cell.digest


def test_every_changed_value_changes_the_address() -> None:
    changes = [
        "task.operation=add",
        "model=nalu",
        "recipe.learning_rate=0.01",
        "model.hidden_size=3",
        "recipe.steps=1000",
    ]
    digests = [
        compose.plan_cells([*change], multirun=False).cells[0].cell.digest for change in ([], *[[c] for c in changes])
    ]
    assert len(set(digests)) == len(digests)


def test_an_experiment_takes_further_overrides_and_is_then_custom() -> None:
    table1 = experiment.load("madsen2020/table1")
    plain = compose.plan_experiment(table1, ["budget=smoke", "device.workers=1"])
    custom = compose.plan_experiment(table1, ["budget=smoke", "recipe.learning_rate=0.01", "seeds=1"])
    assert plain.overrides == ()
    assert custom.overrides == ("recipe.learning_rate=0.01", "seeds=1")
    assert {len(want.seeds) for want in custom.cells} == {1}
    assert {want.cell.recipe.learning_rate for want in custom.cells} == {0.01}


def test_a_wrong_experiment_name_lists_the_right_ones() -> None:
    with pytest.raises(UsageError, match=r"did you mean 'madsen2020/table1'\? Known: .*trask2018/table1"):
        experiment.load("madsen2020/tabel1")


def test_a_budget_the_experiment_lacks_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown budget of madsen2020/table1 'long'"):
        compose.plan_experiment(experiment.load("madsen2020/table1"), ["budget=long"])


def test_an_override_of_a_swept_key_chooses_among_its_values_and_spares_what_is_fixed() -> None:
    table1 = experiment.load("trask2018/table1")
    plan = compose.plan_experiment(table1, ["budget=smoke", "model=nac", "recipe.steps=10", "seeds=3"])
    cells = [want for want in plan.cells if want.role == "cell"]
    baseline = [want for want in plan.cells if want.role == "baseline"]
    assert {(want.cell.model.name, want.cell.recipe.steps, len(want.seeds)) for want in cells} == {("nac", 10, 3)}
    assert {(w.cell.model.name, w.cell.recipe.steps, len(w.seeds)) for w in baseline} == {
        ("hidden_linear", 0, 3),
        ("sequence_lstm", 0, 3),
    }
    with pytest.raises(UsageError, match="unknown model of trask2018/table1 'nmu'"):
        compose.plan_experiment(table1, ["budget=smoke", "model=nmu"])


@pytest.mark.parametrize(
    ("name", "chosen", "cells"),
    [
        ("madsen2020/table2", "task.operation=add", {"add"}), ("iit_report/challenges", "task.operation=mul", {"mul"}),
        ("heim2020/simple", "model=heim_dense", {"heim_dense"}),
    ],
)  # fmt: skip
def test_a_value_that_a_group_sets_for_all_of_its_cells_is_chosen_among_too(
    name: str, chosen: str, cells: set[str]
) -> None:
    found = compose.plan_experiment(experiment.load(name), ["budget=smoke", chosen]).cells
    word = chosen.partition("=")[0]
    assert {want.cell.model.name if word == "model" else want.cell.value(word) for want in found} == cells


def test_a_value_that_goes_together_with_others_is_chosen_with_them() -> None:
    leaderboard = experiment.load("mistry2022/single_module")
    chosen = ["budget=smoke", "unit=nmu", "task.interpolation=[-2,2],[1,2]"]
    tasks = [want.cell.task for want in compose.plan_experiment(leaderboard, chosen).cells]
    assert [(task.interpolation, task.extrapolation) for task in tasks] == [
        ([-2, 2], [[-6, -2], [2, 6]]),
        ([1, 2], [2, 6]),
    ]
    with pytest.raises(UsageError, match=r"unknown task.interpolation of mistry2022/single_module '\[2, 3\]'"):
        compose.plan_experiment(leaderboard, ["budget=smoke", "task.interpolation=[2,3]"])


def test_an_experiment_takes_a_list_of_the_values_it_sweeps() -> None:
    plan = compose.plan_experiment(experiment.load("madsen2020/table1"), ["budget=smoke", "model=nmu,nalu"])
    assert {want.cell.model.name for want in plan.cells} == {"nmu", "nalu"}
    assert plan.overrides == ("model=nmu,nalu",)


def test_a_sweep_over_seeds_is_one_cell_with_the_seeds_of_all() -> None:
    plan = compose.plan_cells(["seeds=2", "first_seed=0,3"], multirun=True)
    assert [want.seeds for want in plan.cells] == [(0, 1, 3, 4)]


@pytest.mark.parametrize("key", ["device=cpu,cuda", "budget=smoke,short", "seeds=5,7", "seeds=range(7, 9)"])
def test_the_machine_the_budget_and_the_number_of_seeds_are_not_swept_over(key: str) -> None:
    with pytest.raises(UsageError, match="takes one value for all cells"):
        compose.plan_cells([key], multirun=True)


def test_values_of_an_experiment_that_meet_in_no_cell_are_refused() -> None:
    for model, operation in (("nau", "mul"), ("nmu", "add")):
        chosen, told = (
            ["budget=smoke", f"model={model}", f"task.operation={operation}"],
            rf"model={model} and .*{operation}",
        )
        with pytest.raises(UsageError, match=f"no cell of madsen2020/table2 has {told}"):
            compose.plan_experiment(experiment.load("madsen2020/table2"), chosen)


@pytest.mark.parametrize("values", [[None], [[None, "80%"]], [[1, 2.5]], ["a text"], [True]])
def test_the_values_of_a_grid_reach_its_cells_as_they_are(values: list[object]) -> None:
    (choice,) = CellGroup([], {"key": values}).expand({})
    assert grammar.pairs(choice) == [("key", values[0])]


def test_a_group_has_its_share_of_the_budgets_steps() -> None:
    tables = experiment.load("iit_report/tables")
    lengths = {
        (want.cell.model.name, want.cell.recipe.steps)
        for want in compose.plan_experiment(tables, ["budget=paper", "task.operation=add,square"]).cells
    }
    only = compose.plan_experiment(tables, ["budget=paper", "model=iit_nac"]).cells
    assert {want.cell.model.name for want in only} == {"iit_nac"}
    assert {("iit_nac", 62_500), ("iit_nalu", 156_250), ("iit_nalu_two", 156_250)} <= lengths
    changed = compose.plan_experiment(tables, ["budget=paper", "budget.steps=6250"]).cells
    assert {(want.cell.model.name == "iit_nac", want.cell.recipe.steps) for want in changed} == {
        (True, 2500), (False, 6250),
    }  # fmt: skip
    given = compose.plan_experiment(tables, ["budget=paper", "recipe.steps=625"]).cells
    assert {want.cell.recipe.steps for want in given} == {625}
    with pytest.raises(UsageError, match=r"recipe\.steps must be a multiple of recipe\.log_every"):
        compose.plan_experiment(tables, ["budget=paper", "budget.log_every=1000"])


def test_an_untrained_model_is_told_from_the_trained_one() -> None:
    cells = compose.plan_experiment(experiment.load("trask2018/table1"), ["budget=smoke", "task.operation=add"]).cells
    untrained, trained = (want.told() for want in cells if want.cell.model.name == "hidden_linear")
    assert untrained == f"{trained} (baseline)"


def test_the_words_typed_are_told_and_a_choice_or_other_seeds_change_no_cell() -> None:
    table3 = experiment.load("trask2018/table3")
    given = ["budget=smoke", "seeds=1", "model=text_lstm", "device.workers=1"]
    chosen = compose.plan_experiment(table3, given)
    assert chosen.overrides == ("seeds=1", "model=text_lstm")
    assert table3.changes(chosen.overrides) == []
    changed = compose.plan_experiment(table3, [*given, "task.split=1", "+budget.steps=10"])
    assert changed.overrides == (*chosen.overrides, "task.split=1", "+budget.steps=10")
    assert table3.changes(changed.overrides) == ["task.split=1", "+budget.steps=10"]


@pytest.mark.parametrize("values", ["range(5,5)", "interval(0.1,0.5)", "glob(*)"])
def test_a_sweep_over_nothing_is_refused_with_the_forms_that_list_values(values: str) -> None:
    with pytest.raises(UsageError, match=r"lists no values; write them with commas, as first_seed=a,b, or as choice"):
        compose.plan_cells([f"first_seed={values}"], multirun=True)


def test_a_sweep_of_a_million_cells_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="at most 10,000 cells, and these lists give more"):
        compose.plan_cells(["recipe.batch_size=range(1,1000)", "first_seed=range(1,1000)"], multirun=True)


def test_layers_and_penalties_can_be_set_whole() -> None:
    words = ["model=nau", "model.layers=[{unit:nac,options:{}},{unit:nau,options:{}}]"]
    words += ["model.penalties={sparsity:{weight:2,start:0,end:10}}"]
    (want,) = compose.plan_cells(words, multirun=False).cells
    assert want.cell.model.units() == ["nac", "nau"]
    assert want.cell.identity()["model"]["penalties"] == {"sparsity": {"weight": 2.0, "start": 0, "end": 10}}


@pytest.mark.parametrize("word", ["first_seed=range(1,10,0)", "recipe.learning_rate=range(0,nan,0.1)"])
def test_a_range_that_gives_no_values_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match=r"lists no values; .* with finite ends and a step that is not 0"):
        compose.plan_cells(["task=arithmetic", "task.operation=add", "model=nau", word], multirun=True)


def test_the_width_of_a_device_is_among_the_words_of_results_and_changes_no_cell() -> None:
    chosen = experiment.load("madsen2020/table1")
    plan = compose.plan_experiment(chosen, ["budget=smoke", "device.width=10", "device.workers=1"])
    assert plan.overrides == ("device.width=10",)
    assert not chosen.changes(plan.overrides)


def test_the_values_of_a_penalty_can_be_set_together() -> None:
    (want,) = compose.plan_cells(["model=nau", "model.penalties.sparsity={weight:0.5,start:0,end:10}"], False).cells
    penalty = want.cell.model.penalties["sparsity"]
    assert (penalty.weight, penalty.start, penalty.end, penalty.below) == (0.5, 0, 10, None)


def test_cells_that_single_precision_does_not_tell_apart_are_refused() -> None:
    with pytest.raises(UsageError, match="cells must differ by more than single precision holds"):
        compose.plan_cells(["model=nau", "recipe.learning_rate=0.0001,0.000100000000001"], multirun=True)


@pytest.mark.parametrize("word", ["model=nau,nau", "recipe.learning_rate=0.1,0.2,0.1"])
def test_a_list_with_a_value_twice_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="must list every value once"):
        compose.plan_cells([word], multirun=True)
