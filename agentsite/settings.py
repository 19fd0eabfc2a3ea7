"""Settings of the site, from the environment; everything has a default for a first start."""

import os
from pathlib import Path
from typing import Any

from django.utils.csp import CSP

from agentsite.environment import LOOPBACK_HOSTS, Environment, channel_layer, database, secret_key

BASE_DIR = Path(__file__).resolve().parent.parent

env = Environment(os.environ)

# Database, secret key, uploads and collected static files; ignored by git.
DATA_DIR = Path(env.text("DATA_DIR", str(BASE_DIR / "data"))).resolve()

DEBUG = env.flag("DEBUG")
SECRET_KEY = secret_key(env, DATA_DIR)
ALLOWED_HOSTS = [*LOOPBACK_HOSTS, *env.words("ALLOWED_HOSTS")]

INSTALLED_APPS = [
    "daphne",  # first, so that `runserver` serves websockets too
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "django_htmx",
    "chat",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "chat.access.LoginRequired",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "agentsite.urls"
ASGI_APPLICATION = "agentsite.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "chat.access.site",
            ],
        },
    },
]

DATABASES = {"default": database(env, DATA_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CHANNEL_LAYERS = {"default": channel_layer(env)}

# Accounts

SIGNUP_OPEN = env.flag("SIGNUP_OPEN", default=True)
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "conversations"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# Language and time

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

# Static files and uploads

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
# Uploads have no address of their own: a view hands them to their owner.
MEDIA_ROOT = DATA_DIR / "media"

# Security. Everything the browser runs or styles with comes from static files; nothing is inline.

SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],  # also the websocket of the same host
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
    "base-uri": [CSP.NONE],
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
CSRF_FAILURE_VIEW = "chat.access.csrf_failure"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"

# Behind a proxy that ends TLS and sets X-Forwarded-Proto (and removes what a client sent under that name).
HTTPS = env.flag("HTTPS")
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]  # asked for from inside, without TLS
    SECURE_HSTS_SECONDS = 31_536_000
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

# The model. Without a key the scripted demo model answers.

OPENAI_API_KEY = env.text("OPENAI_API_KEY")
OPENAI_BASE_URL = env.url("OPENAI_BASE_URL", ("http", "https"), "http://localhost:11434/v1")
OPENAI_MODEL = env.text("OPENAI_MODEL")

# Limits

MAX_TURNS = env.number("MAX_TURNS", 15)  # model calls per interaction; then the page offers to continue
MAX_MESSAGE_LENGTH = 100_000  # characters of one user message; about 25,000 tokens, more than people type
MAX_UPLOAD_SIZE = 10 * 1024 * 1024  # bytes of one file
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024  # bytes of one form without its files
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000  # a large table of fields in one form

DEMO_SPEED = env.number("DEMO_SPEED", 1, least=0)  # of the demo model; 2 is twice as fast, 0 without delay
AGENT_LIMITS: dict[str, Any] = {}  # in place of the defaults of chat.runtime.limits.Limits
MODEL_LIMITS: dict[str, Any] = {}  # in place of the defaults of chat.llm.LLMSettings, deadlines for one
SANDBOX_LIMITS = None  # a chat.sandbox.limits.SandboxLimits in place of its defaults
FETCH_POLICY: dict[str, Any] = {}  # in place of the defaults of chat.skills.HttpPolicy

# Operation

METRICS_TOKEN = env.text("METRICS_TOKEN")  # lets a scraper read /metrics with `Authorization: Bearer …`

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "chat": {"level": "INFO"},
        # Its own console handler is for DEBUG; without this every line would come twice.
        "django": {"handlers": [], "propagate": True, "level": "INFO"},
        "django.channels.server": {"level": "WARNING"},
        "django.server": {"handlers": ["console"], "propagate": False},
    },
}

# What could not be used, for the system checks.
CONFIGURATION_ERRORS = env.wrong
