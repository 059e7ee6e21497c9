import asyncio

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from serve import TOOLS, serve


def model_for(case, setting):
    common = {"api_key": case["key"], "max_retries": case["retries"]}
    if case["way"] == "messages":
        client = AsyncAnthropic(base_url=setting["host"], **common)
        return AnthropicModel(case["model"], provider=AnthropicProvider(anthropic_client=client))
    client = AsyncOpenAI(base_url=setting["api"], **common)
    kind = OpenAIResponsesModel if case["way"] == "responses" else OpenAIChatModel
    return kind(case["model"], provider=OpenAIProvider(openai_client=client))


async def run(case, setting):
    agent = Agent(model_for(case, setting), tools=list(TOOLS.values()) if case["tools"] else [])
    settings = {"temperature": 0.2, "max_tokens": 500} if case["settings"] else {}
    if not case["stream"]:
        return (await agent.run(case["prompt"], model_settings=settings)).output
    async with agent.run_stream(case["prompt"], model_settings=settings) as stream:
        return await stream.get_output()


serve(lambda case, setting: asyncio.run(run(case, setting)))
