"""Flags over environment over config.toml over defaults."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from webseam.config import DEFAULT_PORT, KEYS, Config
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


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("prot = 1", ["'prot'", "`port`"]),
        ("Cache-Megabytes = 5", ["'Cache-Megabytes'", "`cache_megabytes`"]),
        ("port = 1\n[mediawiki]\nbase_url = 'x'", ["'mediawiki'", "the keys are host, port"]),
        ("contact = 'me@example.com'", ["'contact'", "the contact is set with WEBSEAM_CONTACT"]),
        ("data = '/x'", ["'data'", "WEBSEAM_DATA"]),
        ('"\\u001b[31m" = 1', [r"'\x1b[31m'"]),
    ],
)
def test_a_key_that_is_none_is_refused_with_what_was_meant(text: str, named: list[str], tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(ConfigurationError) as raised:
        _ = Config({"data": tmp_path}).cache
    [first] = str(raised.value).splitlines()
    assert all(name in first for name in ["config.toml", *named]), first


def test_the_keys_of_the_file_are_those_that_are_read(tmp_path: Path) -> None:
    asked: set[str] = set()

    class Recorded(Config):
        def _value(self, name: str, default: object) -> object:
            asked.add(name)
            return super()._value(name, default)

    config = Recorded({"data": tmp_path})
    for name, member in vars(Config).items():
        if isinstance(member, property):
            getattr(config, name)
    assert asked == set(KEYS)


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


@pytest.mark.parametrize(
    ("value", "on"), [(True, True), (False, False), ("on", True), ("OFF", False), ("0", False), ("yes", True), ("no", False)]
)
def test_the_cache_is_switched_by_any_usual_word(value: object, on: bool, tmp_path: Path) -> None:
    assert Config({"data": tmp_path, "cache": value}).cache is on


@pytest.mark.parametrize("value", ["", "maybe", 2, []])
def test_a_switch_that_is_none_is_refused_by_name(value: object, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="WEBSEAM_CACHE"):
        _ = Config({"data": tmp_path, "cache": value}).cache


def test_the_cache_has_as_many_bytes_as_its_megabytes(tmp_path: Path) -> None:
    assert Config({"data": tmp_path}).cache_bytes == 256 * 1024 * 1024
    (tmp_path / "config.toml").write_text("cache_megabytes = 5")
    assert Config({"data": tmp_path}).cache_bytes == 5 * 1024 * 1024


@pytest.mark.parametrize("value", ["many", "0", "-1", 1.5, True, "9" * 5_000, 102_401])
def test_megabytes_that_are_none_are_refused_by_name(value: object, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="WEBSEAM_CACHE_MEGABYTES"):
        _ = Config({"data": tmp_path, "cache_megabytes": value}).cache_bytes
