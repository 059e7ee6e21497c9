import asyncio

from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from serve import TOOLS, serve

set_tracing_disabled(True)


async def run(case, setting):
    client = AsyncOpenAI(base_url=setting["api"], api_key=case["key"], max_retries=case["retries"])
    kind = OpenAIResponsesModel if case["way"] == "responses" else OpenAIChatCompletionsModel
    agent = Agent(
        name="suite",
        model=kind(model=case["model"], openai_client=client),
        model_settings=ModelSettings(temperature=0.2, max_tokens=500) if case["settings"] else ModelSettings(),
        tools=[function_tool(tool) for tool in TOOLS.values()] if case["tools"] else [],
    )
    if not case["stream"]:
        return (await Runner.run(agent, case["prompt"])).final_output
    result = Runner.run_streamed(agent, case["prompt"])
    async for _ in result.stream_events():
        pass
    return result.final_output


serve(lambda case, setting: asyncio.run(run(case, setting)))
