"""Accounts: signing up and in, changing the password, and being out."""

from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from chat.models import Conversation
from tests.conftest import PASSWORD, client_of


def text_of(response: Any) -> str:
    return str(response.content.decode())


def test_sign_up_and_in(client: Client, db: None) -> None:
    data = {"username": "Grace", "password1": PASSWORD, "password2": PASSWORD}
    assert client.post("/accounts/signup/", data)["Location"] == "/"
    assert client.get("/").status_code == 200
    assert not User.objects.get().is_staff


def test_sign_up_refuses_names_that_look_alike(client: Client, user: User) -> None:
    data = {"username": "ADA", "password1": PASSWORD, "password2": PASSWORD}
    response = client.post("/accounts/signup/", data)
    assert "already exists" in text_of(response)
    assert User.objects.count() == 1


def test_sign_up_can_be_closed(client: Client, db: None, settings: Any) -> None:
    settings.SIGNUP_OPEN = False
    data = {"username": "Grace", "password1": PASSWORD, "password2": PASSWORD}
    for response in [client.get("/accounts/signup/"), client.post("/accounts/signup/", data)]:
        assert response.status_code == 403
        assert "Sign-up is closed" in text_of(response)
    assert not User.objects.exists()
    assert "Sign up" not in text_of(client.get("/accounts/login/"))


def test_log_in_goes_where_one_wanted_to_go(client: Client, conversation: Conversation) -> None:
    address = conversation.get_absolute_url()
    login = client.get(address)["Location"]
    response = client.post(login, {"username": "ada", "password": PASSWORD, "next": address})
    assert response["Location"] == address


def test_log_in_goes_to_no_other_site(client: Client, user: User) -> None:
    data = {"username": "ada", "password": PASSWORD, "next": "https://example.com/"}
    assert client.post("/accounts/login/", data)["Location"] == "/"


def test_a_wrong_password_is_said_plainly(client: Client, user: User) -> None:
    response = client.post("/accounts/login/", {"username": "ada", "password": "wrong"})
    assert "enter a correct username and password" in text_of(response)


def test_log_out(user_client: Client) -> None:
    assert user_client.get("/accounts/logout/").status_code == 405  # a link or an image must not log out
    assert user_client.post("/accounts/logout/")["Location"] == "/accounts/login/"
    assert user_client.get("/").status_code == 302


def test_a_changed_password_ends_other_sessions(user: User) -> None:
    here, elsewhere = client_of(user), client_of(user)
    new = "another good passphrase"
    data = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert here.post("/accounts/password/", data)["Location"] == "/accounts/password/done/"
    assert here.get("/").status_code == 200
    assert elsewhere.get("/").status_code == 302


def test_a_deactivated_user_is_out(user_client: Client, user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert user_client.get("/").status_code == 302
