/** Members that ask nothing of a model: clients send answers back as they got them, and settings in the form of their vendor. */
import { expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, replay } from '../support/replay.ts'

const HI = { role: 'user', content: 'Hi' }
const CALL = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' }, caller: { type: 'direct' } }
const PICTURE = {
  type: 'image_generation_call',
  id: 'ig_1',
  status: 'completed',
  result: 'iVBORw0KGgo=',
  action: 'generate',
  revised_prompt: 'A cat',
  background: 'opaque',
  quality: 'low',
  size: '1024x1024',
}
const SHELL = {
  type: 'shell_call',
  call_id: 'call_1',
  action: { commands: ['ls'] },
  environment: { type: 'container_reference', container_id: 'cntr_1' },
}
const THOUGHT = { type: 'reasoning', id: 'rs_1', format: 'unknown', summary: [{ type: 'summary_text', text: 'Short.' }], content: [] }

test.each<[string, ClientDialect, UpstreamDialect, object]>([
  [
    'whom an entry of the cache is shared with',
    'messages',
    'bedrock',
    { max_tokens: 9, system: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral', scope: 'global' } }], messages: [HI] },
  ],
  ['how a picture was made', 'responses', 'anthropic', { input: [HI, PICTURE, HI] }],
  [
    'empty members, the id of a message and who called',
    'chat',
    'anthropic',
    {
      messages: [
        { ...HI, tool_call_id: '' },
        { role: 'assistant', id: 'msg_1', content: 'Yes.', prefix: false, audio_content: '', padding: 'x', tool_calls: [CALL] },
        { role: 'tool', tool_call_id: 'call_1', content: 'Done.' },
      ],
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }],
    },
  ],
  [
    'a search that is live',
    'responses',
    'anthropic',
    { input: 'Hi', tools: [{ type: 'web_search', external_web_access: true, search_content_types: ['text'] }] },
  ],
  [
    'where a shell ran',
    'responses',
    'openai-chat',
    {
      input: [
        HI,
        SHELL,
        { type: 'shell_call_output', call_id: 'call_1', output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } }] },
      ],
      tools: [{ type: 'shell' }],
    },
  ],
  [
    'the form of a proof that a router names, and that a turn ended',
    'responses',
    'openai-chat',
    { input: [HI, THOUGHT, { role: 'assistant', content: 'Yes.', end_turn: true }, HI] },
  ],
])('%s is no loss: no warning, and a strict request is sent', async (_, client, dialect, body) => {
  const { bytes } = recording(dialect, 'length', false)
  const upstreams = [{ dialect, reply: { type: 'application/json' as const, pieces: [bytes] }, model: MODELS[dialect] ?? 'one' }]
  const { sent, text } = await replay({ client, upstreams, body: { model: MODEL, ...body, strict: true } })
  expect(text).not.toContain('could not be translated')
  expect(sent).toHaveLength(1)
})

const MODELS: Readonly<Partial<Record<UpstreamDialect, string>>> = {
  anthropic: 'claude-sonnet-4-6',
  bedrock: 'anthropic.claude-sonnet-4-6',
  'openai-chat': 'gpt-4.1',
}
