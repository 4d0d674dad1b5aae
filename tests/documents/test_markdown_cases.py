"""The table of Markdown cases, over us: all of them pass, and so they do whatever stands around them."""

from __future__ import annotations

import pytest
from tests.documents.markdown_cases import BEGIN, CASES, END, Case, alike, failures, page_of_case, specimen

from webseam.documents.read import read


def test_the_table_is_large_and_names_every_case_once() -> None:
    assert len(CASES) >= 80
    assert len({(case.group, case.name) for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=[f"{case.group}: {case.name}" for case in CASES])
def test_a_case_passes(case: Case) -> None:
    answer = read(page_of_case(case).encode(), url=case.url, content_type="text/html; charset=utf-8").content
    assert failures(case, answer) == [], answer
    if case.exact:
        assert specimen(answer) == case.exact


def test_an_answer_without_its_specimen_fails() -> None:
    assert all(failures(case, "") for case in CASES)
    assert failures(Case("", "", "", has=("x",)), f"{BEGIN}\n\ny\n\n{END}") == ["lacks x"]
    assert failures(Case("", "", "", has=("y",), lacks=("y",)), f"{BEGIN}\n\ny\n\n{END}") == ["has y"]


def test_styles_are_made_alike() -> None:
    assert alike("* a\n+   b\n\n1)  c\n\n|  d  | e |\n| :--- | ---: |\n\n__f__ _g_ h_i_j \\(k\\)") == (
        "- a\n- b\n\n1) c\n\n| d | e |\n|---|---|\n\n**f** *g* h_i_j (k)"
    )
    assert alike("```\n* a  \n__b__\n```\n* c") == "```\n* a  \n__b__\n```\n- c"
