import { join } from 'node:path'

import { runProgram } from './run-program.mjs'
import { serve } from './serve.mjs'

const MCP = `mcp_servers.mail={ command = "node", args = ["${join(import.meta.dirname, 'mcp-server.mjs')}"] }`

void serve(({ id, model, prompt, key, retries, mcp, webSockets }, { api }) => {
  const provider = `{ name = "Patchbay", base_url = "${api}", env_key = "INFERENCE_KEY", wire_api = "responses", request_max_retries = ${retries}, stream_max_retries = ${retries}, supports_websockets = ${webSockets} }`
  return runProgram({
    id,
    program: 'codex',
    args: [
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      '-c',
      'model_provider="patchbay"',
      '-c',
      `model_providers.patchbay=${provider}`,
      ...(mcp ? ['-c', MCP] : []),
      '-m',
      model,
      prompt,
    ],
    env: { INFERENCE_KEY: key },
  })
})
