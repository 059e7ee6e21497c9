from openai import OpenAI

from serve import PARAMETERS, TOOLS, TURNS_MAX, run_tool, serve


def chat(client, case):
    tools = [
        {"type": "function", "function": {"name": name, "description": tool.__doc__, "parameters": PARAMETERS[name]}}
        for name, tool in TOOLS.items()
    ]
    more = {**({"tools": tools} if case["tools"] else {}), **({"temperature": 0.2, "max_tokens": 500} if case["settings"] else {})}
    messages = [{"role": "user", "content": case["prompt"]}]
    for _ in range(TURNS_MAX):
        if case["stream"]:
            with client.chat.completions.stream(model=case["model"], messages=messages, **more) as stream:
                message = stream.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(model=case["model"], messages=messages, **more).choices[0].message
        if not message.tool_calls:
            return message.content
        calls = [{"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}} for c in message.tool_calls]
        messages.append({"role": "assistant", "content": message.content, "tool_calls": calls})
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": run_tool(call.function.name, call.function.arguments)})
    raise RuntimeError("the loop does not end")


def responses(client, case):
    tools = [
        {"type": "function", "name": name, "description": tool.__doc__, "parameters": PARAMETERS[name], "strict": False}
        for name, tool in TOOLS.items()
    ]
    more = {**({"tools": tools} if case["tools"] else {}), **({"temperature": 0.2, "max_output_tokens": 500} if case["settings"] else {})}
    items = [{"role": "user", "content": case["prompt"]}]
    for _ in range(TURNS_MAX):
        if case["stream"]:
            with client.responses.stream(model=case["model"], input=items, **more) as stream:
                response = stream.get_final_response()
        else:
            response = client.responses.create(model=case["model"], input=items, **more)
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return response.output_text
        for call in calls:
            items.append({"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments})
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": run_tool(call.name, call.arguments)})
    raise RuntimeError("the loop does not end")


def ask(case, setting):
    client = OpenAI(base_url=setting["api"], api_key=case["key"], max_retries=case["retries"])
    return {"chat": chat, "responses": responses}[case["way"]](client, case)


serve(ask)
