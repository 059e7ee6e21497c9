import os
import subprocess
import sys
from pathlib import Path

from serve import serve

FLAGS = "--no-git --yes-always --no-check-update --no-analytics --no-show-model-warnings --no-gitignore --chat-mode ask --no-pretty".split()


def ask(case, setting):
    folder = Path("runs") / case["id"]
    folder.mkdir(parents=True)
    said = subprocess.run(
        [Path(sys.executable).parent / "aider", *FLAGS, "--stream" if case["stream"] else "--no-stream",
         "--model", f"openai/{case['model']}", "--message", case["prompt"]],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90,
        env={"PATH": os.environ["PATH"], "HOME": str(folder.resolve()), "OPENAI_API_BASE": setting["api"], "OPENAI_API_KEY": case["key"],
             "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    )
    text = said.stdout + said.stderr
    # Its exit code is 0 even after an error.
    if "litellm." in text:
        raise RuntimeError(text)
    return text


serve(ask)
