"""`manage.py up`: from nothing to a running site."""

import ipaddress
import socket
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError
from django.urls import reverse
from django.utils.module_loading import import_string

from chat.management import preparation
from chat.management.server import Hook, SiteServer

SUPERVISOR = "chat.runner.supervisor"


class Command(BaseCommand):
    help = "Prepare the database, make sure that an administrator exists, and serve the site."
    requires_migrations_checks = False  # they are applied here

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address or name to listen on (127.0.0.1)")
        parser.add_argument("--port", type=port_number, default=8000, help="port to listen on (8000)")

    def handle(self, *, host: str, port: int, **options: Any) -> None:
        settings.ALLOWED_HOSTS += names_of(host)
        try:
            with preparation.one_at_a_time():
                preparation.migrate()
                preparation.collect_static()
                made = preparation.make_administrator()
        except OperationalError as error:
            reason = str(error).strip().splitlines()[0]
            raise CommandError(f"The database can't be used: {reason}. Is DATABASE_URL right?") from error
        if made:
            self.say(f"Made the administrator: user name {made[0]}, password {made[1]}")
            self.say(f"  This is shown only once; change it at {reverse('password_change')}.")
        self.say(model_line())

        def ready() -> None:
            for address, number in server.listening_addresses:
                self.say(f"The site is at {address_line(address, number)} (Ctrl+C stops it)")

        on_start, on_stop = hooks()
        application = import_string(settings.ASGI_APPLICATION)  # late: it looks for the static files
        server = SiteServer(application, host, port, on_start=on_start, on_stop=on_stop, on_ready=ready)
        failure = server.serve()
        if failure:
            raise CommandError(f"{failure} Is another site running there? Choose another port with --port.")

    def say(self, line: str) -> None:
        """Print a line at once, also into a pipe."""
        self.stdout.write(line)
        self.stdout.flush()


def port_number(text: str) -> int:
    """Return a port, 0 for any free one."""
    port = int(text)
    if not 0 <= port <= 65535:
        raise ValueError(text)
    return port


def hooks() -> tuple[Hook | None, Hook | None]:
    """Return what to run in the server's loop when it starts and before it stops."""
    if find_spec("chat.runner") is None or find_spec(SUPERVISOR) is None:
        return None, None
    supervisor = import_module(SUPERVISOR)
    return supervisor.start, supervisor.stop


def names_of(host: str) -> list[str]:
    """Return under which names browsers may ask for a site that listens on `host`."""
    bare = host.strip("[]")
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return [bare]
    if not address.is_unspecified:
        return [f"[{bare}]" if address.version == 6 else bare]
    # Listening on all addresses: this machine's name, and the addresses that it resolves to.
    name = socket.gethostname()
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(name, None)}
    except OSError:
        found = set()
    return [name, *(f"[{ip}]" if ":" in str(ip) else str(ip) for ip in sorted(map(str, found)))]


def address_line(address: str, port: int) -> str:
    """Return the address that a browser on this machine opens."""
    if address in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        address = "localhost"
    return f"http://[{address}]:{port}/" if ":" in address else f"http://{address}:{port}/"


def model_line() -> str:
    """Return which model answers."""
    if not (settings.OPENAI_API_KEY or settings.OPENAI_BASE_URL):
        return "The demo model answers, scripted; for a real one set OPENAI_API_KEY or OPENAI_BASE_URL."
    name = settings.OPENAI_MODEL or "the default model"
    return f"Replies come from {name} at {settings.OPENAI_BASE_URL or 'OpenAI'}."
