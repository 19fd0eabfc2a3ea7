"""What operators and their machines ask for: health, readiness, figures."""

from typing import Any

from django.test import Client


def test_health_asks_nobody(client: Client) -> None:
    response = client.get("/healthz")  # without the database, which this test has no access to
    assert (response.status_code, response.content) == (200, b"ok\n")


def test_ready(client: Client, db: None) -> None:
    response = client.get("/readyz")
    assert (response.status_code, response.json()) == (200, {"database": True, "layer": True})


def test_not_ready_without_the_layer(client: Client, db: None, settings: Any) -> None:
    nowhere = {"hosts": ["redis://127.0.0.1:1/0"]}
    settings.CHANNEL_LAYERS = {
        "default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": nowhere}
    }
    response = client.get("/readyz")
    assert (response.status_code, response.json()) == (503, {"database": True, "layer": False})


def test_metrics_are_for_staff_or_the_token(
    client: Client, user_client: Client, staff_client: Client, settings: Any
) -> None:
    assert client.get("/metrics").status_code == 403
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 403
    assert user_client.get("/metrics").status_code == 403
    assert "# TYPE process_cpu_seconds_total counter" in staff_client.get("/metrics").content.decode()
    settings.METRICS_TOKEN = "tell me"
    assert client.get("/metrics", headers={"Authorization": "Bearer tell me"}).status_code == 200
    assert client.get("/metrics", headers={"Authorization": "Bearer no"}).status_code == 403
