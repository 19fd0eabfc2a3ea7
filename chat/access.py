"""Who is behind a request or a socket, and what is answered when nobody is logged in."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import (
    BACKEND_SESSION_KEY,
    HASH_SESSION_KEY,
    SESSION_KEY,
    get_user_model,
    load_backend,
)
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.models import AbstractBaseUser
from django.contrib.auth.views import redirect_to_login
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.utils.crypto import constant_time_compare
from django.utils.module_loading import import_string


class LoginRequired(LoginRequiredMiddleware):
    """Sends anonymous people to the login page; from an htmx request the whole page goes there."""

    def handle_no_permission(self, request: HttpRequest, view_func: Callable[..., Any]) -> Any:
        """Return the redirect that the request's sender follows."""
        htmx = getattr(request, "htmx", None)
        if not htmx:
            return super().handle_no_permission(request, view_func)
        # fetch() would follow a redirect and swap the login form into the page; and after the login
        # people want the page they were on, not the fragment's address.
        login = redirect_to_login(htmx.current_url_abs_path or "/", resolve_url(settings.LOGIN_URL))
        return HttpResponse(status=204, headers={"HX-Redirect": login["Location"]})


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return the page for a request without a valid token; htmx loads its page anew, with a fresh token."""
    if getattr(request, "htmx", None):
        return HttpResponse(status=403, headers={"HX-Refresh": "true"})
    return render(request, "403_csrf.html", {"reason": reason}, status=403)


def site(request: HttpRequest) -> dict[str, Any]:
    """Return what every page says about the site, and in which colours."""
    real_model = settings.OPENAI_API_KEY or settings.OPENAI_BASE_URL
    theme = request.COOKIES.get("theme")  # set by page.js; sent with the request, so that nothing flashes
    return {
        "signup_open": settings.SIGNUP_OPEN,
        "demo_model": not real_model,
        "theme": theme if theme in ("light", "dark") else "",
    }


def session_user(session_key: str | None) -> AbstractBaseUser | None:
    """Return the user whom a session key belongs to now, or None; reads the database and never writes.

    Sockets use it at connect and again later, so that a logout, a changed password or a deactivated account
    reaches them. Django's own `get_user` would renew the session, which no socket could tell the browser.
    """
    if not session_key:
        return None
    store: type[SessionBase] = import_string(f"{settings.SESSION_ENGINE}.SessionStore")
    session = store(session_key)
    backend_path = session.get(BACKEND_SESSION_KEY, "")
    if SESSION_KEY not in session or backend_path not in settings.AUTHENTICATION_BACKENDS:
        return None
    user_id = get_user_model()._meta.pk.to_python(session[SESSION_KEY])
    user: Any = load_backend(backend_path).get_user(user_id)  # None for inactive users
    if user is None:
        return None
    hashes = [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()]
    given = session.get(HASH_SESSION_KEY, "")
    return user if any(constant_time_compare(given, known) for known in hashes) else None
