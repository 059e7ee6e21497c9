/** The choice of a tool that is not named in the request, with providers of all dialects: a demanded call is never dropped silently. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { at } from '../support/json-at.ts'
import { recording, UPSTREAM_DIALECTS, type UpstreamDialect } from '../support/recordings.ts'
import { OWN_DIALECT, question, replay, type Replayed } from '../support/replay.ts'

const ask = (
  client: ClientDialect,
  dialect: UpstreamDialect,
  fields: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Replayed> => {
  const reply = { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } as const
  const model = dialect === 'bedrock' ? 'anthropic.claude-sonnet-4-5-20250929-v1:0' : 'm'
  return replay({ client, upstreams: [{ dialect, reply, model }], headers, body: { ...question(client, false), ...fields } })
}

const REQUIRED: Readonly<Record<ClientDialect, unknown>> = { chat: 'required', responses: 'required', messages: { type: 'any' } }
const NAMED: Readonly<Record<ClientDialect, unknown>> = {
  chat: { type: 'function', function: { name: 'get_wether' } },
  responses: { type: 'function', name: 'get_wether' },
  messages: { type: 'tool', name: 'get_wether' },
}

/** A provider of the client's own dialect gets the client's own JSON. */
const PAIRS = CLIENT_DIALECTS.flatMap((client) =>
  UPSTREAM_DIALECTS.filter((dialect) => dialect !== OWN_DIALECT[client]).map((dialect) => [client, dialect] as const),
)

describe.each(PAIRS)('%s → %s', (client, dialect) => {
  test('400: the tool that is demanded is not among the tools', async () => {
    const { sent, text } = await ask(client, dialect, { tool_choice: NAMED[client] })
    expect(sent).toEqual([])
    expect(at(JSON.parse(text), 'error', 'message')).toContain('There is no tool named get_wether among the tools.')
  })

  test('a call is demanded where there are no tools: a warning', async () => {
    const { sent, headers } = await ask(client, dialect, { tools: undefined, tool_choice: REQUIRED[client] })
    expect(sent[0]?.body).not.toContain('tool_choice')
    expect(headers.get('x-service-warnings')).toBe('1')
  })
})

describe('a tool of a set of Anthropic’s, which the request does not name', () => {
  const toolset = { type: 'computer_toolset_20260801' }
  const [own] = question('messages', false)['tools'] as readonly object[]
  const choice = { type: 'tool', name: 'screenshot' }

  test('Claude is made to call it', async () => {
    const { sent } = await ask('messages', 'anthropic', { tools: [toolset], tool_choice: choice })
    expect(at(JSON.parse(sent[0]?.body ?? '{}'), 'tool_choice')).toEqual(choice)
  })

  test.each(UPSTREAM_DIALECTS.filter((dialect) => dialect !== 'anthropic'))(
    '%s: the demand is left out, with a warning',
    async (dialect) => {
      const headers = { 'x-service-metadata': 'enabled' }
      const { sent, text } = await ask('messages', dialect, { tools: [own, toolset], tool_choice: choice }, headers)
      expect(sent[0]?.body).not.toContain('screenshot')
      expect(text).toContain('cannot be made to call screenshot; the choice is the model’s.')
    },
  )
})
