"""Addresses of the chat, the accounts and the operator's pages."""

from django.contrib.auth import views as accounts
from django.urls import path

from chat.gallery import gallery_urls
from chat.views import files, intake, operate, pages, signup

urlpatterns = [
    path("", pages.conversations, name="conversations"),
    path("start/", pages.start, name="start"),
    path("c/<uuid:pk>/", pages.conversation, name="conversation"),
    path("c/<uuid:pk>/rename/", pages.rename, name="rename"),
    path("c/<uuid:pk>/delete/", pages.delete, name="delete"),
    path("accounts/login/", accounts.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("accounts/logout/", accounts.LogoutView.as_view(), name="logout"),
    path("accounts/signup/", signup.signup, name="signup"),
    path("accounts/password/", accounts.PasswordChangeView.as_view(), name="password_change"),
    path("accounts/password/done/", accounts.PasswordChangeDoneView.as_view(), name="password_change_done"),
    path("healthz", operate.healthz, name="healthz"),
    path("readyz", operate.readyz, name="readyz"),
    path("metrics", operate.metrics, name="metrics"),
    path("c/<uuid:pk>/message/", intake.message, name="message"),
    path("c/<uuid:pk>/stop/", intake.stop, name="stop"),
    path("c/<uuid:pk>/retry/", intake.retry, name="retry"),
    path("c/<uuid:pk>/continue/", intake.go_on, name="continue"),
    path("c/<uuid:pk>/inbox/<int:row>/", intake.queued, name="queued"),
    path("c/<uuid:pk>/m/<slug:mount>/submit/", intake.submit, name="submit"),
    path("c/<uuid:pk>/m/<slug:mount>/callback/", intake.callback, name="callback"),
    path("c/<uuid:pk>/files/", files.upload, name="upload"),
    path("c/<uuid:pk>/files/<uuid:upload>/", files.file, name="file"),
    *gallery_urls,
]
