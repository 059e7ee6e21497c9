import { runProgram } from './run-program.mjs'
import { serve } from './serve.mjs'

const PACKAGES = { chat: '@ai-sdk/openai-compatible', messages: '@ai-sdk/anthropic', responses: '@ai-sdk/openai' }

void serve(({ id, way, model, prompt, key }, { api }) => {
  const provider = { npm: PACKAGES[way], name: 'Patchbay', options: { baseURL: api, apiKey: key }, models: { [model]: { name: model } } }
  return runProgram({
    id,
    program: 'opencode',
    // The prompt goes to stdin, since as an argument it would be quoted.
    args: ['run', '-m', `patchbay/${model}`],
    input: prompt,
    files: { 'opencode.json': JSON.stringify({ autoupdate: false, share: 'disabled', provider: { patchbay: provider } }) },
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
  })
})
