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
  const choice = { type: 'tool', name: 'screenshot' }

  test('Claude is made to call it', async () => {
    const { sent, headers } = await ask('messages', 'anthropic', { tools: [toolset], tool_choice: choice, strict: true })
    expect(at(JSON.parse(sent[0]?.body ?? '{}'), 'tool_choice')).toEqual(choice)
    expect(headers.has('x-service-warnings')).toBe(false)
  })

  test.each(UPSTREAM_DIALECTS.filter((dialect) => dialect !== 'anthropic'))('400: %s has no such set', async (dialect) => {
    const refused: unknown = await ask('messages', dialect, { tools: [toolset], tool_choice: choice }).catch((thrown: unknown) => thrown)
    expect(String(refused)).toContain('tools[0]: computer_toolset_20260801 cannot run')
  })
})

describe("a web search of the provider's own", () => {
  const CLAUDES = { tools: [{ type: 'web_search_20250305', name: 'web_search' }], tool_choice: { type: 'tool', name: 'web_search' } }
  const OPENAIS = { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } }
  const choiceOf = ({ sent }: Replayed): unknown => at(JSON.parse(sent[0]?.body ?? '{}'), 'tool_choice')
  const toClaude = (client: ClientDialect, model = 'claude-sonnet-5'): Promise<Replayed> => {
    const reply = { type: 'application/json', pieces: [recording('anthropic', 'length', false).bytes] } as const
    const body = { ...question(client, false), ...OPENAIS, tool_choice: { type: 'web_search_preview' } }
    return replay({ client, upstreams: [{ dialect: 'anthropic', reply, model }], body })
  }

  test('Claude is made to search', async () => {
    const asked = await toClaude('responses')
    expect(choiceOf(asked)).toEqual({ type: 'tool', name: 'web_search' })
    expect(asked.headers.has('x-service-warnings')).toBe(false)
  })

  test('OpenAI is made to search', async () => {
    const asked = await ask('messages', 'openai-responses', CLAUDES)
    expect(choiceOf(asked)).toEqual({ type: 'web_search' })
    expect(asked.headers.has('x-service-warnings')).toBe(false)
  })

  test('Google cannot be made to: the demand is left out, with a warning', async () => {
    const asked = await ask('messages', 'google', CLAUDES)
    expect([asked.sent[0]?.body.includes('toolConfig'), asked.headers.get('x-service-warnings')]).toEqual([false, '1'])
  })

  test('a model of another maker that speaks Messages has none: the demand is left out, with a warning', async () => {
    const asked = await toClaude('responses', 'deepseek-v4')
    expect([choiceOf(asked), asked.sent.length]).toEqual([undefined, 1])
  })
})

describe('a tool that Anthropic has', () => {
  test.each([
    { type: 'memory_20250818', name: 'memory' },
    { type: 'code_execution_20260120', name: 'code_execution' },
    { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
    { type: 'bash_20241022', name: 'bash' },
    { type: 'browser_toolset_20260801' },
    { type: 'mcp_toolset', mcp_server_name: 'mail' },
  ])('reaches Claude without a warning, also from a strict request: $type', async (tool) => {
    const reply = { type: 'application/json', pieces: [recording('anthropic', 'length', false).bytes] } as const
    const upstreams = [{ dialect: 'anthropic', slug: 'anthropic', model: 'claude-sonnet-5', reply }] as const
    const { sent, status, headers } = await replay({
      client: 'messages',
      upstreams,
      body: { ...question('messages', false), tools: [tool], strict: true },
    })
    expect([status, headers.get('x-service-warnings'), at(JSON.parse(sent[0]?.body ?? '{}'), 'tools')]).toEqual([200, null, [tool]])
  })
})
