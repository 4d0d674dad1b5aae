"""Flags over environment over config.toml over defaults."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from webseam.config import DEFAULT_PORT, Config
from webseam.errors import ConfigurationError


def test_flags_come_before_the_environment_before_the_file_before_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBSEAM_DATA", str(tmp_path))
    assert Config().port == DEFAULT_PORT
    (tmp_path / "config.toml").write_text('port = 1001\nsearch = "brave"\n')
    assert Config().port == 1001
    assert Config().engines == {"search": "brave"}
    monkeypatch.setenv("WEBSEAM_PORT", "1002")
    assert Config().port == 1002
    assert Config({"port": 1003}).port == 1003


@pytest.mark.parametrize("port", ["eighty", "-1", "65536", "1.5", True, 1.5, float("inf"), "9" * 5_000])
def test_a_port_that_is_none_is_refused_by_name(port: object, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="WEBSEAM_PORT"):
        _ = Config({"data": tmp_path, "port": port}).port


@pytest.mark.parametrize("text", ["port = = 3", "a = " + "[" * 20_000, "a = " + "1" * 10_000, "\xff" * 9, "a = 1\n" * 20_000])
def test_a_broken_file_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigurationError, match=r"config\.toml is (not valid TOML|larger than)"):
        _ = Config({"data": tmp_path}).port


@pytest.mark.parametrize("data", ["", "  ", "~nobody-of-this-name/x"])
def test_a_data_directory_that_is_no_directory_names_the_setting(data: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="WEBSEAM_DATA"):
        _ = Config({"data": data}).data


@pytest.mark.parametrize("seconds", ["x", "inf", "nan", "0", "301"])
def test_a_deadline_that_is_none_is_refused_by_name(seconds: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="WEBSEAM_CALL_SECONDS"):
        _ = Config({"data": tmp_path, "call_seconds": seconds}).call_seconds


@pytest.mark.parametrize(
    ("written", "allowed"),
    [("", True), ("robots_ignore = false", False), ('robots_ignore = "Off"', False), ("robots_ignore = true", True)],
)
def test_whether_robots_txt_may_be_ignored_is_on_unless_it_is_off(written: str, allowed: bool, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(written)
    assert Config({"data": tmp_path}).robots_ignore is allowed


@pytest.mark.parametrize("value", ["", "maybe", "2", 2])
def test_a_switch_that_is_neither_on_nor_off_is_refused_by_name(value: object, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="WEBSEAM_ROBOTS_IGNORE"):
        _ = Config({"data": tmp_path, "robots_ignore": value}).robots_ignore


def test_a_data_directory_that_cannot_be_made_names_the_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="WEBSEAM_DATA"):
        _ = Config({"data": tmp_path / "file" / "below"}).data


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits for owner, group and others")
def test_the_data_directory_is_the_owners_alone(tmp_path: Path) -> None:
    made = Config({"data": tmp_path / "new"}).data
    assert made.stat().st_mode & 0o777 == 0o700
