"""What all conversations of this process share, made on first use: the journal, the model, the sandbox."""

from functools import cached_property
from importlib import import_module

from django.conf import settings

from chat.llm import ChatModel, LLMSettings, create_model
from chat.prompt import system_prompt
from chat.runner.journal import Journal
from chat.runtime.limits import Limits
from chat.sandbox.base import Prelude
from chat.sandbox.monty import MontySandbox
from chat.skills import SKILLS
from chat.ui.components import CATALOGUE
from chat.ui.signatures import spec, stub


def warm() -> None:
    """Load what takes seconds to load, or the first conversation of a process would hold up all others."""
    import_module("chat.llm.openai")


class Services:
    """One per process and event loop."""

    @cached_property
    def journal(self) -> Journal:
        """The writer."""
        return Journal()

    @cached_property
    def limits(self) -> Limits:
        """The limits of a conversation, from the settings."""
        return Limits(turns=settings.MAX_TURNS, **settings.AGENT_LIMITS)

    @cached_property
    def model(self) -> ChatModel:
        """The model that answers."""
        return create_model(
            LLMSettings(
                api_key=settings.OPENAI_API_KEY,
                base_url=settings.OPENAI_BASE_URL,
                model=settings.OPENAI_MODEL,
                demo_speed=settings.DEMO_SPEED,
                **settings.MODEL_LIMITS,
            )
        )

    @cached_property
    def sandbox(self) -> MontySandbox:
        """The sandbox with everything that agent code may call."""
        components = CATALOGUE.values()
        prelude = Prelude(
            specs=tuple(spec(component) for component in components),
            stubs=tuple(stub(component) for component in components),
            skills={name: skill.stub for name, skill in SKILLS.items()},
        )
        return MontySandbox(prelude, settings.SANDBOX_LIMITS)

    @cached_property
    def prompt(self) -> str:
        """The system prompt."""
        return system_prompt()

    async def close(self) -> None:
        """End the workers and the writer, and the connections to the model."""
        if "model" in self.__dict__:
            await self.model.close()
        if "sandbox" in self.__dict__:
            await self.sandbox.close()
        if "journal" in self.__dict__:
            self.journal.close()
