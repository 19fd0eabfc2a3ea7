"""The ASGI application: pages by Django, sockets by Channels."""

import os

from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application
from django.urls import path, re_path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentsite.settings")
pages = get_asgi_application()  # loads the apps, which what follows needs

from agentsite.sockets import refused, same_origin_only, with_user  # noqa: E402
from chat.consumers import PageConsumer  # noqa: E402

sockets = URLRouter(
    [
        path("ws/c/<uuid:conversation>/", PageConsumer.as_asgi()),
        re_path("", refused),
    ]
)

application = ProtocolTypeRouter({"http": pages, "websocket": same_origin_only(with_user(sockets))})
