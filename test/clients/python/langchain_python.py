from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from serve import TOOLS, TURNS_MAX, run_tool, serve


def model_for(case, setting):
    common = {"model": case["model"], "api_key": case["key"], "max_retries": case["retries"]}
    settings = {"temperature": 0.2, "max_tokens": 500} if case["settings"] else {}
    if case["way"] == "messages":
        return ChatAnthropic(base_url=setting["host"], **{"max_tokens": 500, **settings}, **common)
    return ChatOpenAI(base_url=setting["api"], use_responses_api=case["way"] == "responses", **settings, **common)


def whole(model, messages, stream):
    if not stream:
        return model.invoke(messages)
    answer = None
    for chunk in model.stream(messages):
        answer = chunk if answer is None else answer + chunk
    return answer


def ask(case, setting):
    model = model_for(case, setting)
    if case["tools"]:
        model = model.bind_tools([tool(one) for one in TOOLS.values()])
    messages = [HumanMessage(case["prompt"])]
    for _ in range(TURNS_MAX):
        answer = whole(model, messages, case["stream"])
        if not answer.tool_calls:
            return answer.text if isinstance(answer.text, str) else answer.text()
        messages.append(answer)
        messages += [ToolMessage(run_tool(call["name"], call["args"]), tool_call_id=call["id"]) for call in answer.tool_calls]
    raise RuntimeError("the loop does not end")


serve(ask)
