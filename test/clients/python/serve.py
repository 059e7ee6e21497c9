"""The side of a driver that speaks to the suite: cases on stdin, a line for each outcome on stdout."""
import json
import sys


def serve(ask):
    """`ask(case, setting)` answers the last text of the model, or raises what the library raises."""
    setting = json.load(sys.stdin)
    for case in setting["cases"]:
        try:
            outcome = {"text": ask(case, setting)}
        except Exception as error:  # The library's own error is the outcome that is looked at.
            outcome = {"error": f"{type(error).__name__}: {error}"}
        print("OUTCOME " + json.dumps({"id": case["id"], **outcome}), flush=True)


def get_weather(city: str) -> str:
    """Weather of a city."""
    return f"Weather in {city}: mild"


def get_time(zone: str) -> str:
    """Time in a zone."""
    return f"Time in {zone}: noon"


TOOLS = {"get_weather": get_weather, "get_time": get_time}
PARAMETERS = {
    "get_weather": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "get_time": {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]},
}
TURNS_MAX = 5


def run_tool(name, arguments):
    return TOOLS[name](**(json.loads(arguments) if isinstance(arguments, str) else arguments))
