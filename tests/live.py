"""The real site in a process of its own, for tests that need a server."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parent.parent
START_TIMEOUT = 60  # seconds; migrations and static files on a busy machine
STOP_TIMEOUT = 20

# What a developer's shell may have set must not reach the sites of tests.
OWN_VARIABLES = (
    "ALLOWED_HOSTS",
    "DATABASE_URL",
    "DATA_DIR",
    "DEBUG",
    "HTTPS",
    "MAX_TURNS",
    "METRICS_TOKEN",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_MODEL",
    "REDIS_URL",
    "SECRET_KEY",
    "SIGNUP_OPEN",
)


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Site:
    """`manage.py up` with its data in a folder; a context manager. Several may share one folder and port."""

    def __init__(self, data: Path, *, port: int | None = None, **variables: str) -> None:
        self.data = data
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in OWN_VARIABLES},
            "DJANGO_SETTINGS_MODULE": "agentsite.settings",
            "DATA_DIR": str(data),
            "PYTHONUNBUFFERED": "1",
            **variables,
        }
        self.process: subprocess.Popen[str] | None = None
        self.lines: list[str] = []
        self.username = ""
        self.password = ""

    def start(self) -> Self:
        """Start the process and return when it answers."""
        command = [sys.executable, "manage.py", "up", "--host", "127.0.0.1", "--port", str(self.port)]
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()
        give_up = time.monotonic() + START_TIMEOUT
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > give_up:
                self.kill()
                raise AssertionError(f"The site did not start:\n{self.output}")
            time.sleep(0.05)
        return self

    def _read(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout
        for line in process.stdout:
            self.lines.append(line)
            if match := re.search(r"user name (\S+), password (\S+)", line):
                self.username, self.password = match.groups()

    @property
    def output(self) -> str:
        """All that the process has printed and logged."""
        return "".join(self.lines)

    def answers(self) -> bool:
        """Return whether the site can serve: database and layer answer too."""
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5) as response:
                return bool(response.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def manage(self, *arguments: str) -> str:
        """Run a management command on the site's data and return what it prints."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Ask the process to end, wait for it, and return its exit code."""
        assert self.process
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"The site did not stop within {STOP_TIMEOUT} s:\n{self.output}") from None

    def kill(self) -> None:
        """End the process as a crash would."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exception: object) -> None:
        try:
            if self.process and self.process.poll() is None:
                self.stop()
        finally:
            self.kill()
