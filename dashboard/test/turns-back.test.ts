/** The turns of a model go back to it from the playground as the contract of each interface says, seen from the provider. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { proseAnswer, type Script, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()
const [claude, refuser] = [await startFakeUpstream(), await startFakeUpstream()]

const prices = 'prices: { prompt: 3, completion: 7 }'
const config = `
providers:
  fake: { name: Fake, dialects: [anthropic], base_url: "${claude.url}", api_key: k }
  other: { name: Other, dialects: [openai-chat], base_url: "${refuser.url}", api_key: k }
models:
  fake/claude: { endpoints: [{ provider: fake, model: claude-sonnet-4-5, ${prices} }] }
  fake/refuser: { endpoints: [{ provider: other, model: refuser, ${prices} }] }
`

/** The thinking between the words and the call belongs there, too. */
const TURN = [
  { type: 'thinking', thinking: 'Where can it be?', signature: 'Sig1/+==' },
  { type: 'text', text: 'Let me look.' },
  { type: 'thinking', thinking: 'At the depot.', signature: 'Sig2/+==' },
  { type: 'tool_use', id: 'toolu_1', name: 'find', input: { number: '7' } },
]

const message = (content: readonly object[], reason: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content,
  stop_reason: reason,
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 9 },
})

const halves = (text: string): readonly string[] => [text.slice(0, text.length / 2), text.slice(text.length / 2)]

/** In pieces, as a provider streams it. */
const eventsOf = (content: readonly Readonly<Record<string, unknown>>[], reason: string): readonly object[] => [
  { type: 'message_start', message: { ...message([], reason), stop_reason: null } },
  ...content.flatMap(({ type, ...block }, index) => {
    const [start, deltas] =
      type === 'thinking'
        ? [
            { thinking: '', signature: '' },
            [
              ...halves(String(block['thinking'])).map((thinking) => ({ type: 'thinking_delta', thinking })),
              { type: 'signature_delta', signature: block['signature'] },
            ],
          ]
        : type === 'text'
          ? [{ text: '' }, halves(String(block['text'])).map((text) => ({ type: 'text_delta', text }))]
          : [
              { ...block, input: {} },
              halves(JSON.stringify(block['input'])).map((json) => ({ type: 'input_json_delta', partial_json: json })),
            ]
    return [
      { type: 'content_block_start', index, content_block: { type, ...start } },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]
  }),
  { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
]

/** Calls the tool, and after its result says where the parcel is. */
const findParcel: Script = async (exchange) => {
  const isFirst = exchange.body.messages.length === 1
  const content = isFirst ? TURN : [{ type: 'text', text: 'It is in Zug.' }]
  const reason = isFirst ? 'tool_use' : 'end_turn'
  if (exchange.body.stream !== true) return exchange.answer(200, JSON.stringify(message(content, reason)))
  await exchange.head(200, { 'content-type': 'text/event-stream' })
  for (const event of eventsOf(content, reason)) {
    await exchange.piece(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`)
  }
  await exchange.done()
}

describe.skipIf(BROWSER_PATH === null)('a turn of the model goes back to it whole', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start({ config })
  })

  test.each(['chat', 'responses', 'messages'].flatMap((dialect) => [true, false].map((stream) => [dialect, stream] as const)))(
    'on %s, streamed: %p, with its thinking and its signatures in their places, its words and its call',
    async (dialect, stream) => {
      claude.script(findParcel)
      const { page, ...visitor } = await signedIn(browser, service, `/playground?interface=${dialect}&model=fake/claude`)
      await page.getByLabel('Stream').setChecked(stream)
      await page.getByLabel('Message 1', { exact: true }).fill('Where is parcel 7?')
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByLabel('Result of find').fill('In Zug.')
      expect(await page.getByRole('button', { name: 'Reply' }).count()).toBe(0)
      await page.getByRole('button', { name: 'Answer and go on' }).click()
      await page.getByText('It is in Zug.').waitFor()
      const [, turn, results] = claude.last.body.messages
      expect(turn).toEqual({ role: 'assistant', content: TURN })
      expect(JSON.stringify(results)).toMatch(/"tool_use_id":"toolu_1".*In Zug\./)

      await page.getByRole('button', { name: 'Reply' }).click()
      await page.getByText('assistant: It is in Zug.').waitFor()
      await page.getByLabel('Message 5', { exact: true }).fill('Thanks.')
      await visitor.checkAccessible()
      const asked = claude.exchanges.length
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await until(() => Promise.resolve(claude.exchanges.length > asked), 'the next request')
      expect(claude.last.body.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
      expect(JSON.stringify(claude.last.body.messages[3])).toContain('It is in Zug.')
      visitor.check()
    },
  )

  test.each(['chat', 'responses'].flatMap((dialect) => [true, false].map((stream) => [dialect, stream] as const)))(
    'on %s, streamed: %p, if it is a refusal, which is shown as one',
    async (dialect, stream) => {
      refuser.script(async (exchange) => {
        const refusal = { role: 'assistant', content: null, refusal: 'I do not do that.' }
        const choice = (more: object) => [{ index: 0, finish_reason: 'stop', logprobs: null, ...more }]
        if (exchange.body.stream !== true) return exchange.answer(200, proseAnswer('', { choices: choice({ message: refusal }) }))
        const chunk = (delta: object, finish_reason: string | null) =>
          JSON.stringify({
            id: 'c',
            object: 'chat.completion.chunk',
            created: 1,
            model: 'refuser',
            choices: choice({ delta, finish_reason }),
          })
        return exchange.stream([
          chunk({ role: 'assistant', content: null, refusal: 'I do not' }, null),
          chunk({ refusal: ' do that.' }, null),
          chunk({}, 'stop'),
        ])
      })
      const { page, ...visitor } = await signedIn(browser, service, `/playground?interface=${dialect}&model=fake/refuser`)
      await page.getByLabel('Stream').setChecked(stream)
      await page.getByLabel('Message 1', { exact: true }).fill('Do it.')
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByText('The model refuses to answer: I do not do that.').waitFor()
      await page.getByRole('button', { name: 'Reply' }).click()
      await page.getByLabel('Message 3', { exact: true }).fill('Why?')
      await visitor.checkAccessible()
      const asked = refuser.exchanges.length
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await until(() => Promise.resolve(refuser.exchanges.length > asked), 'the next request')
      // Responses translated to Chat Completions keeps a refusal as words.
      const member = dialect === 'chat' ? 'refusal' : 'content'
      expect(refuser.last.body.messages[1]).toMatchObject({ role: 'assistant', [member]: 'I do not do that.' })
      visitor.check()
    },
  )
})
