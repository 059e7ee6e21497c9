import litellm

from serve import PARAMETERS, TOOLS, TURNS_MAX, run_tool, serve

litellm.suppress_debug_info = True
# It knows which of Anthropic's models refuse a temperature, and refuses such a request itself.
litellm.drop_params = True


def ask(case, setting):
    prefix, base = ("anthropic", setting["host"]) if case["way"] == "messages" else ("openai", setting["api"])
    tools = [
        {"type": "function", "function": {"name": name, "description": tool.__doc__, "parameters": PARAMETERS[name]}}
        for name, tool in TOOLS.items()
    ]
    more = {**({"tools": tools} if case["tools"] else {}), **({"temperature": 0.2, "max_tokens": 500} if case["settings"] else {})}
    messages = [{"role": "user", "content": case["prompt"]}]
    for _ in range(TURNS_MAX):
        answer = litellm.completion(
            model=f"{prefix}/{case['model']}", api_base=base, api_key=case["key"], messages=messages,
            stream=case["stream"], num_retries=case["retries"], max_retries=0, **more,
        )
        if case["stream"]:
            answer = litellm.stream_chunk_builder(list(answer), messages=messages)
        message = answer.choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": run_tool(call.function.name, call.function.arguments)})
    raise RuntimeError("the loop does not end")


serve(ask)
