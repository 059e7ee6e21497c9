import { runProgram } from './run-program.mjs'
import { serve } from './serve.mjs'

void serve(({ id, model, prompt, key, retries }, { host }) =>
  runProgram({
    id,
    program: 'claude',
    args: ['-p', prompt, '--allowedTools', 'Bash(echo:*) WebSearch'],
    env: {
      ANTHROPIC_BASE_URL: host,
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_MODEL: model,
      CLAUDE_CODE_MAX_RETRIES: String(retries),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
  }),
)
