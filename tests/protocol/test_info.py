import pytest

from chat.protocol.info import DataInfo, RefusedInfo, RunInfo, read_info

RUN = (
    "python agent.run",
    "py agent.run",
    "python3 agent.run",
    "agent.run",
    "PYTHON AGENT.RUN",
    "  python \t agent.run  ",
    "python agent.run agent.data => x",
    "python agent.run // first",
    "python agent.run()",
    "python\u00a0agent.run",
)


@pytest.mark.parametrize("info", RUN)
def test_run(info: str) -> None:
    assert read_info(info) == RunInfo()


DATA = {
    'json agent.data => "films"': "films",
    "json agent.data => 'films'": "films",
    "json agent.data => films": "films",
    'json agent.data -> "films"': "films",
    'json agent.data = "films"': "films",
    'json agent.data "films"': "films",
    "json agent.data films": "films",
    "json agent.data=>films": "films",
    "json agent.data->films": "films",
    "json agent.data='films'": "films",
    'json agent.data"films"': "films",
    'agent.data => "films"': "films",
    "JSON Agent.Data => Films": "Films",
    'json agent.data => "my films" now': "my films",
    "json agent.data => films now": "films",
    'json agent.data => "it\'s"': "it's",
    'json agent.data => "\u00e9t\u00e9-1.x"': "\u00e9t\u00e9-1.x",
    'json agent.data => "films': "films",
    'json agent.data => " films "': "films",
    'json agent.data => "=>"': "=>",
}


@pytest.mark.parametrize("info", DATA)
def test_data(info: str) -> None:
    assert read_info(info) == DataInfo(DATA[info])


REFUSED = {
    "tsx agent.run": "unsupported_language",
    "py2 agent.run": "unsupported_language",
    "yaml agent.data => x": "unsupported_language",
    "python agent.data => x": "unsupported_language",
    "json agent.data": "missing_target",
    "json agent.data =>": "missing_target",
    'json agent.data => ""': "missing_target",
    'json agent.data => " "': "missing_target",
    "json agent.data: x": "missing_target",
    "python agent.exec": "unknown_verb",
    "python agent.runs": "unknown_verb",
    "python agent.run-now": "unknown_verb",
    "python agent.": "unknown_verb",
    "agent.show": "unknown_verb",
    "js agent.exec": "unknown_verb",
    "python copy agent.run": "misplaced_verb",
    "{python agent.run}": "unsupported_language",
    "{agent.run}": "misplaced_verb",
    "pythonagent.run": "misplaced_verb",
    "json x agent.data => y": "misplaced_verb",
}


@pytest.mark.parametrize("info", REFUSED)
def test_refused(info: str) -> None:
    intent = read_info(info)
    assert isinstance(intent, RefusedInfo)
    assert intent.problem.code == REFUSED[info]
    assert f'"{info}"' in intent.problem.message


@pytest.mark.parametrize(
    "info", ["", "python", "python agent", "agent run", "js title=x", "agents.run", "md agentrun"]
)
def test_ordinary(info: str) -> None:
    assert read_info(info) is None


@pytest.mark.parametrize(
    ("info", "python"), [("python agent.exec", True), ("js agent.run", False), ("agent.x", True)]
)
def test_refused_python_is_known_as_python(info: str, python: bool) -> None:
    intent = read_info(info)
    assert isinstance(intent, RefusedInfo)
    assert intent.python is python
