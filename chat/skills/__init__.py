"""Skills: what agent code may ask the host to do."""

from chat.skills.base import (
    SKILLS,
    FileInfo,
    FileStore,
    MemoryStore,
    Skill,
    SkillContext,
    SkillError,
    discover,
    skill,
)
from chat.skills.http.policy import HttpPolicy

discover()

__all__ = [
    "SKILLS",
    "FileInfo",
    "FileStore",
    "HttpPolicy",
    "MemoryStore",
    "Skill",
    "SkillContext",
    "SkillError",
    "discover",
    "skill",
]
