"""Forms of the site itself; those that the agent mounts are in `chat.ui.forms`."""

import uuid

from django import forms
from django.conf import settings
from django.contrib.auth.forms import BaseUserCreationForm
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _

from chat.models import Conversation


class SignUpForm(BaseUserCreationForm):
    """A user name and a password, given twice."""

    class Meta:
        model = User
        fields = ("username",)

    def clean_username(self) -> str:
        """Return the user name; names that differ only in case would let people pose as others."""
        username: str = self.cleaned_data["username"]
        if User.objects.filter(username__iexact=username).exists():
            raise forms.ValidationError(_("A user with that username already exists."), code="unique")
        return username


class MessageForm(forms.Form):
    """What a person writes to the agent, with a key made by the page so that a repeat is harmless."""

    key = forms.UUIDField(widget=forms.HiddenInput)
    text = forms.CharField(
        max_length=settings.MAX_MESSAGE_LENGTH,
        strip=True,
        widget=forms.Textarea,
        error_messages={"required": _("Write a message first.")},
    )

    def clean_key(self) -> uuid.UUID:
        """Return the key."""
        key: uuid.UUID = self.cleaned_data["key"]
        return key


class RenameForm(forms.ModelForm):
    """The title of a conversation."""

    class Meta:
        model = Conversation
        fields = ("title",)
