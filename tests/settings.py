"""Settings of the test run: the site's own, without anything of the machine's environment."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

scratch = Path(tempfile.mkdtemp(prefix="agentsite-tests-"))
atexit.register(shutil.rmtree, scratch, ignore_errors=True)

OURS = (
    "ALLOWED_HOSTS DEBUG HTTPS MAX_TURNS METRICS_TOKEN OPENAI_API_KEY OPENAI_BASE_URL OPENAI_MODEL REDIS_URL"
)
for name in (*OURS.split(), "SIGNUP_OPEN"):
    os.environ.pop(name, None)
os.environ["SECRET_KEY"] = "only for tests; long enough for the system check that counts its characters"
os.environ["DATA_DIR"] = str(scratch)
# TESTS_ON_POSTGRES=1 lets the whole run use the database that else only some tests use.
on_postgres = os.environ.get("TESTS_ON_POSTGRES") == "1"
os.environ["DATABASE_URL"] = os.environ["DATABASE_URL_TEST"] if on_postgres else ""

from agentsite.settings import *  # noqa: E402, F403
from agentsite.settings import DATABASES, STORAGES  # noqa: E402

# A file: the in-memory database of a test run is shared between threads in a mode that locks whole tables.
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["TEST"] = {"NAME": str(scratch / "test.sqlite3")}

# Nothing is collected for tests.
(scratch / "static").mkdir()
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}

# Passwords need no protection here, and the real hasher takes most of a second.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
