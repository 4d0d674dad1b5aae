"""The estimate of tokens: near what a tokenizer says, for any script, whatever the length."""

from __future__ import annotations

import pytest

from webseam.tools.tokens import SAMPLED, estimate

# What o200k_base makes of each text.
COUNTED = [
    ("The lamp in the tower is lit every evening before the sun goes down, and put out in the morning. ", 23),
    ("def lamp(n: int) -> str:\n    return f\"lamp {n}\"\n", 17),
    ("| Name | Type |\n|---|---|\n| `n` | int |\n", 17),
    ("塔里的灯每天傍晚太阳落山之前点亮，早晨熄灭。", 20),
    ("塔の灯りは毎晩日が沈む前に灯され、朝に消されます。", 23),
    ("탑의 등불은 매일 저녁 해가 지기 전에 켜지고 아침에 꺼진다.", 26),
    ("Лампу в башне зажигают каждый вечер до захода солнца и гасят утром.", 22),
    ("يضاء المصباح في البرج كل مساء قبل غروب الشمس ويطفأ في الصباح.", 20),
]  # fmt: skip


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_an_estimate_is_near_what_a_tokenizer_says(text: str, tokens: int) -> None:
    assert 0.7 * tokens <= estimate(text) <= 1.3 * tokens


def test_a_character_of_chinese_is_not_a_quarter_of_a_token() -> None:
    assert estimate("灯" * 1_000) > 2.5 * estimate("lamp " * 200)


def test_nothing_costs_nothing_and_anything_something() -> None:
    assert estimate("") == 0
    for text in ("a", " ", "\n", "\ud800", "\x00", "é", "灯", "🪔"):
        assert estimate(text) >= 1


def test_a_long_text_is_sampled_all_over() -> None:
    text = "The lamp is lit. " * 20_000 + "灯在傍晚点亮。" * 20_000
    assert len(text) > 20 * SAMPLED
    halves = estimate(text[:SAMPLED]) * (340_000 / SAMPLED) + estimate(text[-SAMPLED:]) * (140_000 / SAMPLED)
    assert estimate(text) == pytest.approx(halves, rel=0.1)
