"""System checks: each wrong setting is named, with its remedy."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register

from agentsite.environment import is_public, unusable

LEAST_SECRET = 32  # characters; a shorter key could be guessed


@register("settings")
def check_environment(**_: Any) -> list[CheckMessage]:
    """Return what is wrong with environment variables, as noticed when the settings were read."""
    return [
        Error(f"{wrong.name}: {wrong.message}", hint=wrong.remedy, id="chat.E001")
        for wrong in settings.CONFIGURATION_ERRORS
    ]


@register("settings")
def check_data_folder(**_: Any) -> list[CheckMessage]:
    """Return whether the folder of database, uploads and static files can be written."""
    reason = unusable(settings.DATA_DIR)
    if not reason:
        return []
    hint = "Make it writable for the user that runs the site, or set DATA_DIR to another folder."
    return [
        Error(f"DATA_DIR: nothing can be kept in {settings.DATA_DIR}: {reason}.", hint=hint, id="chat.E002")
    ]


@register("settings")
def check_packages(**_: Any) -> list[CheckMessage]:
    """Return which optional packages the settings need and do not find."""
    engine = settings.DATABASES["default"]["ENGINE"]
    layer = settings.CHANNEL_LAYERS["default"]["BACKEND"]
    wanted = [
        ("DATABASE_URL", engine.endswith("postgresql"), "psycopg", "postgres"),
        ("DATABASE_URL", engine.endswith("postgresql"), "psycopg_pool", "postgres"),
        ("REDIS_URL", layer.startswith("channels_redis"), "channels_redis", "redis"),
    ]
    return [
        Error(f"{name} needs the package {package}.", hint=f"Run: uv sync --extra {extra}", id="chat.E003")
        for name, used, package, extra in wanted
        if used and find_spec(package) is None
    ]


@register(Tags.security)
def check_hosts(**_: Any) -> Iterator[CheckMessage]:
    """Return what is wrong with the names under which the site is reached."""
    if "*" in settings.ALLOWED_HOSTS:
        yield Error(
            "ALLOWED_HOSTS: '*' lets pages of any site open sockets with your users' cookies.",
            hint="Name the hosts, for example ALLOWED_HOSTS=chat.example.com",
            id="chat.E004",
        )
    for host in settings.ALLOWED_HOSTS:
        if "/" in host or (":" in host and not host.startswith("[")):
            yield Error(
                f"ALLOWED_HOSTS: {host!r} is not a host name.",
                hint="Leave out scheme, port and path: chat.example.com, .example.com or 192.0.2.7",
                id="chat.E005",
            )
    public = [host for host in settings.ALLOWED_HOSTS if is_public(host)]
    if settings.DEBUG and public:
        yield Error(
            f"DEBUG is on, and others reach the site ({', '.join(public)}); error pages show its secrets.",
            hint="Unset DEBUG, or unset ALLOWED_HOSTS.",
            id="chat.E006",
        )


@register(Tags.security, deploy=True)
def check_https(**_: Any) -> list[CheckMessage]:
    """Return whether passwords travel in the open."""
    public = [host for host in settings.ALLOWED_HOSTS if is_public(host)]
    if settings.HTTPS or not public:
        return []
    message = f"HTTPS is off, and the site is open to others ({', '.join(public)})."
    hint = "Put a proxy in front that ends TLS and sets X-Forwarded-Proto, and set HTTPS=1."
    return [checks.Warning(message, hint=hint, id="chat.W001")]


@register(Tags.security)
def check_secret_key(**_: Any) -> list[CheckMessage]:
    """Return whether the key that signs sessions and snapshots is long enough."""
    if len(settings.SECRET_KEY) >= LEAST_SECRET:
        return []
    message = f"SECRET_KEY has {len(settings.SECRET_KEY)} characters; at least {LEAST_SECRET} are needed."
    hint = "Set a long random one, or unset it: then one is made and kept in DATA_DIR."
    return [Error(message, hint=hint, id="chat.E007")]


@register("settings")
def check_processes(**_: Any) -> list[CheckMessage]:
    """Return whether several processes would hear of each other."""
    database = settings.DATABASES["default"]["ENGINE"]
    layer = settings.CHANNEL_LAYERS["default"]["BACKEND"]
    if not (database.endswith("postgresql") and layer.endswith("InMemoryChannelLayer")):
        return []
    message = "REDIS_URL is not set, so a second process on this database would not hear of the first one."
    hint = "Set REDIS_URL, or run one process only and silence this with SILENCED_SYSTEM_CHECKS."
    return [checks.Warning(message, hint=hint, id="chat.W002")]


@register("settings")
def check_model(**_: Any) -> Iterator[CheckMessage]:
    """Return what is wrong with the access to the model."""
    key = settings.OPENAI_API_KEY
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        yield Error(
            "OPENAI_API_KEY has characters that no key has, such as a space or a typographic quote.",
            hint="Copy the key again, without what stands around it.",
            id="chat.E008",
        )
    if settings.OPENAI_BASE_URL and not settings.OPENAI_MODEL:
        yield checks.Warning(
            f"OPENAI_BASE_URL is set to {settings.OPENAI_BASE_URL!r}, but OPENAI_MODEL is not.",
            hint="Set OPENAI_MODEL to a model which that server has.",
            id="chat.W003",
        )
