from anthropic import Anthropic, beta_tool

from serve import PARAMETERS, TOOLS, TURNS_MAX, run_tool, serve


def messages_loop(client, case):
    """The loop that programs write themselves."""
    tools = [{"name": name, "description": tool.__doc__, "input_schema": PARAMETERS[name]} for name, tool in TOOLS.items()]
    more = {**({"tools": tools} if case["tools"] else {}), **({"extra_body": {"temperature": 0.2}} if case["settings"] else {})}
    messages = [{"role": "user", "content": case["prompt"]}]
    for _ in range(TURNS_MAX):
        request = {"model": case["model"], "max_tokens": 500, "messages": messages, **more}
        if case["stream"]:
            with client.messages.stream(**request) as stream:
                message = stream.get_final_message()
        else:
            message = client.messages.create(**request)
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return text_of(message)
        messages.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in message.content]})
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": run_tool(call.name, call.input)} for call in calls]
        messages.append({"role": "user", "content": results})
    raise RuntimeError("the loop does not end")


def runner_loop(client, case):
    """The loop that the library runs: it asks for a thread to be continued, and sends everything again where none is kept."""
    runner = client.beta.messages.tool_runner(
        model=case["model"],
        max_tokens=500,
        max_iterations=TURNS_MAX,
        messages=[{"role": "user", "content": case["prompt"]}],
        tools=[beta_tool(tool) for tool in TOOLS.values()] if case["tools"] else [],
        stream=case["stream"],
    )
    return text_of(runner.until_done())


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def ask(case, setting):
    client = Anthropic(base_url=setting["host"], api_key=case["key"], max_retries=case["retries"])
    return {"messages": messages_loop, "runner": runner_loop}[case["way"]](client, case)


serve(ask)
