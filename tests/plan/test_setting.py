"""A setting is a mapping of words that is written, read and compared."""

import pytest

from nalu_bench.plan.setting import Setting


@pytest.mark.parametrize("text", ["", "hidden=4", "hidden=4;length=10", "range=[1, 2];told=a=b"])
def test_a_setting_is_read_as_it_is_written(text: str) -> None:
    assert str(Setting.parse(text)) == text
    assert eval(repr(Setting.parse(text))) == Setting.parse(text)


def test_values_are_text_and_words_keep_their_order() -> None:
    setting = Setting({"length": 10, "share": 0.5})
    assert dict(setting) == {"length": "10", "share": "0.5"}
    assert str(setting | {"hidden": 4, "length": 1}) == "length=1;share=0.5;hidden=4"
    assert str(setting) == "length=10;share=0.5", "the sum is another setting"
    assert setting.told() == "length=10, share=0.5"


def test_equal_settings_are_one_key_whatever_the_order_of_their_words() -> None:
    one, other = Setting.parse("hidden=4;length=10"), Setting.parse("length=10;hidden=4")
    assert one == other
    assert one != Setting.parse("hidden=4")
    assert {one: "kept"}[other] == "kept"
