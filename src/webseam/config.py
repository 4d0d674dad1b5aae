"""Process configuration, and the one table of limits.

A value comes from the first of: a command-line flag, `WEBSEAM_<NAME>`, `<name>` in `config.toml` (in the data
directory, or where `WEBSEAM_CONFIG` says), the default. What a person chooses (engines, keys, exceptions) is not here: it
is stored by account (`webseam.accounts`).

Imported by the handshake of `webseam stdio`: heavy modules are imported inside the functions that use them.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from webseam.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Limits:
    """Every bound in one place. Bytes, characters (Unicode code points) and seconds, as the names say."""

    __slots__ = ()

    # messages
    message_bytes = 10 * 1024 * 1024
    message_depth = 64
    id_chars = 64 * 1024  # of a request: it is kept while the request is pending, and sent back
    batch_messages = 50
    message_nodes = 250_000  # objects and arrays in one message
    pending_calls = 64  # per connection on stdio and per caller over HTTP; per process over HTTP x 4

    # connections of clients (the bounds of a head are those of the door)
    connections_served = 8_192  # per server; fewer where the process may have fewer descriptors
    head_seconds = 15.0  # for all of a request's head, from the connection or its first byte
    write_seconds = 60.0  # within which a client reads something of what is written
    unwritten_bytes = 256 * 1024 * 1024  # kept for clients that read too slowly, per server

    # what outlives a message
    open_streams = 4_096  # per process
    open_streams_per_caller = 128
    stream_messages = 256  # waiting to be written, or kept to be written again
    stream_bytes = 2 * 1024 * 1024
    keep_alive_seconds = 15.0
    sessions = 2_000  # per process
    sessions_per_caller = 200
    session_idle_seconds = 1_800.0
    session_streams = 32  # kept for resumption, of one session
    kept_bytes = 64 * 1024 * 1024  # of all streams that are kept for resumption
    retry_ms = 1_000  # after which a client is asked to come back
    session_subscriptions = 1_000  # resources that one client watches
    handshake_bytes = 64 * 1024  # of what a session remembers of its client
    pending_questions = 32  # to the client, of one session
    question_seconds = 300.0  # how long a client may take to answer one
    request_state_seconds = 600.0
    request_state_bytes = 1024 * 1024  # an image in an answer must fit
    tasks = 4_096
    tasks_per_caller = 256
    task_ttl_ms = 15 * 60 * 1000
    task_poll_ms = 1_000
    task_questions = 64  # over the life of one task
    task_bytes = 4 * 1024 * 1024  # of the result of one
    tasks_bytes = 64 * 1024 * 1024  # of what all hold: results that are kept, calls whose work is under way
    mirrored_tools = 10_000

    # configuration
    config_bytes = 64 * 1024

    # a call
    call_seconds = 30.0
    max_call_seconds = 300.0
    call_steps = 200
    threads_for_sync_providers = 8

    # web_search
    results = 10
    default_results = 8
    title_chars = 300
    snippet_chars = 500
    age_chars = 100
    query_chars = 2_000
    domains = 20
    error_chars = 2_000

    # web_fetch
    url_chars = 8_192
    window_chars = 10_000
    max_window_chars = 50_000
    page_chars = 5_000_000
    find_chars = 200
    find_passages = 20
    outline_entries = 60
    outline_entries_missed = 10  # where what was looked for is not on the page
    pages_kept_seconds = 600.0
    pages_kept_bytes = 64 * 1024 * 1024

    # the door
    body_bytes = 10 * 1024 * 1024
    body_small_bytes = 256 * 1024  # up to here a body grows as it comes, beyond it needs room
    body_bytes_in_flight = 128 * 1024 * 1024  # of all bodies of the process together
    vendor_reply_bytes = 2 * 1024 * 1024
    wire_bytes = 10 * 1024 * 1024
    header_bytes = 64 * 1024
    header_count = 200
    redirects = 8
    encodings = 2
    connect_seconds = 10.0
    lookups_per_account = 8  # of names, at once, those that nobody waits for any more among them
    connections = 64
    connections_per_host = 8
    connections_per_account = 32  # below `connections`, so that one account cannot hold all of them
    connections_per_account_and_host = 6  # below `connections_per_host`, for the same reason
    retry_after_seconds = 3_600.0
    resting_hosts = 1_000  # that asked to be left alone, remembered at once
    robots_bytes = 500 * 1024
    robots_kept_seconds = 3_600.0
    ca_bytes = 8 * 1024 * 1024  # of one file with certificates or a key
    ca_files = 1_000  # in a folder of certificates
    cache_bytes = 256 * 1024 * 1024  # on disk, of one account, unless cache_megabytes says otherwise
    max_cache_bytes = 100 * 1024 * 1024 * 1024

    # documents and workers
    worker_processes = 2
    worker_memory_bytes = 512 * 1024 * 1024
    worker_queue = 64
    worker_jobs_each = 5_000
    document_seconds = 15.0
    document_share = 0.6  # of that time: then a long document stops, and what was read of it is the answer
    document_parts = 150_000  # paragraphs of an Office file, and pieces of them that look alike
    pdf_pages = 2_000
    pdf_page_chars = 200_000
    archive_entries = 20_000  # of a zip file: DOCX, XLSX, PPTX, EPUB, OpenDocument
    archive_part_bytes = 16 * 1024 * 1024  # of one entry, unpacked
    archive_bytes = 96 * 1024 * 1024  # of all that are unpacked
    archive_ratio = 400  # of what an entry unpacks to
    book_chapters = 2_000
    chapter_bytes = 4 * 1024 * 1024
    slides = 1_000
    sheets = 100
    sheet_rows = 5_000
    sheet_columns = 100
    workbook_cells = 250_000
    feed_entries = 200
    csv_table_cells = 1_000  # up to here CSV is shown as a table, beyond as it came

    # the private index
    crawl_pages = 500
    max_crawl_pages = 100_000
    sitemap_urls = 50_000
    sitemap_depth = 3
    sitemap_bytes = 10 * 1024 * 1024  # of one, unpacked
    folder_files = 100_000
    index_file_bytes = 10 * 1024 * 1024
    index_commit_documents = 200
    index_commit_seconds = 2.0


LIMITS = Limits()

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8377

KEYS = (
    "host",
    "port",
    "call_seconds",
    "search",
    "reading",
    "robots_ignore",
    "cache",
    "cache_megabytes",
    "proxy",
    "proxy_resolves",
    "ca_file",
    "client_cert",
    "client_key",
    "client_key_password",
    "client_cert_hosts",
)
"""Every key that `config.toml` may hold."""

_ELSEWHERE = {
    "contact": "the contact is set with WEBSEAM_CONTACT",
    "data": "the data directory is set with --data or WEBSEAM_DATA",
}
_SWITCH = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}


class Config:
    """Where the data lies and where the server listens. Read once a process; immutable by convention."""

    __slots__ = ("_data", "_file", "_flags", "_values")

    def __init__(self, flags: Mapping[str, Any] | None = None) -> None:
        self._flags = {name: value for name, value in (flags or {}).items() if value is not None}
        self._data: Path | None = None
        self._values: dict[str, Any] | None = None
        self._file: Path | None = None

    @property
    def data(self) -> Path:
        """The data directory (`--data`, `WEBSEAM_DATA`, or the platform's own place). Made, 0700, when first asked for."""
        if self._data is None:
            from pathlib import Path

            given = self._flags.get("data", os.environ.get("WEBSEAM_DATA"))
            if given is not None:
                if not str(given).strip():
                    raise ConfigurationError("The data directory is an empty name: give one with --data DIR or WEBSEAM_DATA.")
                path = _home(Path(given), "--data or WEBSEAM_DATA").absolute()
            else:
                from platformdirs import user_data_path

                path = user_data_path("webseam", appauthor=False)
            try:
                path.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise ConfigurationError(
                    f"The data directory {path} cannot be made ({error.strerror}): "
                    "give another with --data DIR or WEBSEAM_DATA."
                ) from error
            self._data = path
        return self._data

    @property
    def host(self) -> str:
        """The address `webseam serve` binds."""
        return str(self._value("host", DEFAULT_HOST))

    @property
    def port(self) -> int:
        """The port `webseam serve` binds; 0 lets the system choose."""
        value = self._value("port", DEFAULT_PORT)
        port = int(value) if isinstance(value, int | str) and str(value).isdecimal() and len(str(value)) < 9 else -1
        if not 0 <= port <= 65535:
            raise ConfigurationError(
                f"port must be a number from 0 to 65535, not {value!r}: change --port, WEBSEAM_PORT or `port` in config.toml."
            )
        return port

    @property
    def call_seconds(self) -> float:
        """How long one call of a tool may take, in seconds."""
        value = self._value("call_seconds", LIMITS.call_seconds)
        try:
            seconds = float(value)
        except (TypeError, ValueError, OverflowError):
            seconds = -1.0
        if not 1.0 <= seconds <= LIMITS.max_call_seconds:
            raise ConfigurationError(
                f"call_seconds must be a number from 1 to {LIMITS.max_call_seconds:.0f}, not {value!r}: "
                "change WEBSEAM_CALL_SECONDS or `call_seconds` in config.toml."
            )
        return seconds

    @property
    def cache(self) -> bool:
        """Whether the door keeps what it reads (`WEBSEAM_CACHE=off`, `cache = false`)."""
        return self._switch("cache", default=True)

    @property
    def cache_bytes(self) -> int:
        """How much the door keeps on disk for one account (`cache_megabytes`)."""
        megabyte, most = 1024 * 1024, LIMITS.max_cache_bytes // (1024 * 1024)
        value = self._value("cache_megabytes", LIMITS.cache_bytes // megabyte)
        plain = isinstance(value, int | str) and str(value).isdecimal() and len(str(value)) < 9
        if not plain or not 1 <= int(value) <= most:
            raise ConfigurationError(
                f"cache_megabytes must be a number from 1 to {most}, not {value!r}: "
                "change WEBSEAM_CACHE_MEGABYTES or `cache_megabytes` in config.toml, or switch it off with cache = false."
            )
        return int(value) * megabyte

    @property
    def engines(self) -> dict[str, str]:
        """Engines named for this process (`WEBSEAM_SEARCH`, `WEBSEAM_READING`), role -> name; they overrule what is stored."""
        named = {role: self._value(role, None) for role in ("search", "reading")}
        return {role: str(name) for role, name in named.items() if name}

    @property
    def robots_ignore(self) -> bool:
        """Whether accounts may choose to ignore robots.txt."""
        return self._switch("robots_ignore", default=True)

    def _switch(self, name: str, *, default: bool) -> bool:
        value = self._value(name, default)
        on = _SWITCH.get(str(value).strip().lower())
        if on is None:
            raise ConfigurationError(
                f"{name} must be on or off, not {value!r}: change WEBSEAM_{name.upper()} or `{name}` in config.toml."
            )
        return on

    @property
    def ca_file(self) -> Path | None:
        """A PEM file, or a folder of them, with CAs that are trusted beside the system's."""
        return self._path("ca_file")

    @property
    def client_cert(self) -> Path | None:
        """A PEM file with the certificate that is shown to `client_cert_hosts`."""
        return self._path("client_cert")

    @property
    def client_key(self) -> Path | None:
        """A PEM file with the key of `client_cert`; None when it lies in the same file."""
        return self._path("client_key")

    @property
    def client_key_password(self) -> str:
        """What `client_key` is encrypted with; "" for nothing."""
        return self._text("client_key_password")

    @property
    def client_cert_hosts(self) -> tuple[str, ...]:
        """The hosts, each with its subdomains, that get to see `client_cert`: a list, or names with commas between."""
        value = self._value("client_cert_hosts", "")
        names = value.split(",") if isinstance(value, str) else value
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ConfigurationError(
                "client_cert_hosts must name hosts: change WEBSEAM_CLIENT_CERT_HOSTS or `client_cert_hosts` in config.toml."
            )
        return tuple(name.strip() for name in names if name.strip())

    @property
    def proxy(self) -> str:
        """ "" for none, `env` for what the environment names, or the URL of a proxy. May hold a password: not to be shown."""
        return self._text("proxy").strip()

    @property
    def proxy_resolves(self) -> bool:
        """Whether names are looked up by the proxy alone, and so not vetted here."""
        return self._value("proxy_resolves", False) != "" and self._switch("proxy_resolves", default=False)

    def _path(self, name: str) -> Path | None:
        from pathlib import Path

        given = self._text(name)
        return _home(Path(given), f"WEBSEAM_{name.upper()} or `{name}` in config.toml") if given.strip() else None

    def _text(self, name: str) -> str:
        value = self._value(name, "")
        if not isinstance(value, str):
            raise ConfigurationError(f"{name} must be text: change WEBSEAM_{name.upper()} or `{name}` in config.toml.")
        return value

    def _value(self, name: str, default: Any) -> Any:
        if name in self._flags:
            return self._flags[name]
        from_environment = os.environ.get("WEBSEAM_" + name.upper())
        if from_environment is not None:
            return from_environment
        if self._values is None:
            self._values = self._read_file()
        return self._values.get(name, default)

    def _read_file(self) -> dict[str, Any]:
        from pathlib import Path

        given = os.environ.get("WEBSEAM_CONFIG")
        path = _home(Path(given), "WEBSEAM_CONFIG") if given else self.data / "config.toml"
        try:
            with path.open("rb") as file:
                text = file.read(LIMITS.config_bytes + 1)
        except FileNotFoundError as error:
            if not given:
                return {}
            raise ConfigurationError(f"WEBSEAM_CONFIG names {path}, which does not exist.") from error
        except OSError as error:
            raise ConfigurationError(f"{path} cannot be read ({error.strerror}): mend it, or unset WEBSEAM_CONFIG.") from error
        import tomllib

        if len(text) > LIMITS.config_bytes:
            raise ConfigurationError(
                f"{path} is larger than {LIMITS.config_bytes // 1024} KB: it holds a few settings, no more."
            )
        try:
            values = tomllib.loads(text.decode())
        except (ValueError, RecursionError) as error:  # ValueError: not UTF-8, not TOML, a number beyond all measure
            raise ConfigurationError(f"{path} is not valid TOML: {str(error)[:300]}") from error
        unknown = next((key for key in values if key not in KEYS), None)
        if unknown is not None:
            raise ConfigurationError(f"{path} has the key {unknown[:100]!r}, which is none of Webseam's: {_instead(unknown)}")
        return values


def _instead(key: str) -> str:
    """What to write in place of the unknown `key`."""
    import difflib

    plain = key[:100].lower().replace("-", "_")
    if plain in _ELSEWHERE:
        return f"take it out, {_ELSEWHERE[plain]}."
    near = difflib.get_close_matches(plain, KEYS, n=1)
    return f"write `{near[0]}`, if that is meant." if near else f"take it out; the keys are {', '.join(KEYS)}."


def _home(path: Path, setting: str) -> Path:
    """`path` with "~" replaced."""
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ConfigurationError(f"{path} names a home directory that does not exist: change {setting}.") from error
