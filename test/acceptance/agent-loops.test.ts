/** Four turns, two tools, every client library against every provider dialect; then with the model changed in the middle. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { AGENT_CLIENTS, type AgentClient } from '../support/agent-clients.ts'
import type { AgentRequest } from '../support/agent-model.ts'
import { FINAL_TEXT, historyFaults, PROVES } from '../support/agent-script.ts'
import { AGENT_MODELS } from '../support/agent-upstreams.ts'
import { type Exchange, startFakeUpstream } from '../support/fake-upstream.ts'
import { streamText, SSE_DIALECTS, type SseDialect } from '../support/recordings.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstreams = Object.fromEntries(await Promise.all(SSE_DIALECTS.map(async (dialect) => [dialect, await startFakeUpstream()] as const)))
let service: StartedService

/** Anthropic's rules, and the abilities of OpenAI's models, depend on the name of the model. */
const UPSTREAM_MODELS: Readonly<Record<SseDialect, string>> = {
  anthropic: 'claude-sonnet-4-5',
  'openai-responses': 'gpt-5.2',
  'openai-chat': 'some-model',
  google: 'gemini-3-pro-preview',
}

beforeAll(async () => {
  const providers = SSE_DIALECTS.map(
    (dialect) => `  p-${dialect}: { dialects: [${dialect}], base_url: "${upstreams[dialect]?.url}", api_key: k }`,
  )
  // One model has no price, since clients that expect a number must cope with that too.
  const prices = (dialect: SseDialect): string => (dialect === 'openai-chat' ? '' : ', prices: { prompt: 1, completion: 2 }')
  const models = SSE_DIALECTS.map(
    (dialect) => `  agent/${dialect}: { endpoints: [{ provider: p-${dialect}, model: ${UPSTREAM_MODELS[dialect]}${prices(dialect)} }] }`,
  )
  service = await services.start({ config: `providers:\n${providers.join('\n')}\nmodels:\n${models.join('\n')}\n` })
})

const SWITCHES: readonly (readonly [SseDialect, SseDialect])[] = [
  ['anthropic', 'openai-responses'],
  ['openai-responses', 'anthropic'],
  ['anthropic', 'google'],
  ['google', 'anthropic'],
  ['openai-responses', 'google'],
  ['google', 'openai-responses'],
  ['openai-chat', 'anthropic'],
  ['anthropic', 'openai-chat'],
]

interface Loop {
  readonly text: string
  readonly faults: readonly string[]
  /** The number of warnings in each turn's answer. */
  readonly warnings: readonly number[]
}

/** Runs a loop in which `speakers[n]` gives turn n. */
const runLoop = async (client: AgentClient, speakers: readonly SseDialect[]): Promise<Loop> => {
  const faults: string[] = []
  let turn = 0
  for (const dialect of SSE_DIALECTS) {
    upstreams[dialect]?.script(async (exchange: Exchange) => {
      const number = turn
      turn += 1
      if (speakers[number] !== dialect) faults.push(`turn ${number} came to ${dialect}`)
      const { reported, faults: found } = AGENT_MODELS[dialect].read(exchange.body as AgentRequest)
      if (reported.length !== number) found.push(`${reported.length} turns in the history`)
      found.push(...historyFaults(dialect, reported, speakers, client.carriesProofs))
      faults.push(...found.map((fault) => `before turn ${number}: ${fault}`))
      if (found.length > 0) faults.push(exchange.text)
      await exchange.head(200)
      await exchange.piece(
        streamText(
          dialect,
          AGENT_MODELS[dialect].payloads(number).map((payload) => JSON.stringify(payload)),
        ),
      )
      await exchange.done()
    })
  }
  const warnings: number[] = []
  const watched = (async (...args: Parameters<typeof fetch>) => {
    const response = await fetch(...args)
    warnings.push(Number(response.headers.get('x-service-warnings') ?? 0))
    return response
  }) as typeof fetch
  const modelOf = (number: number): string => `agent/${speakers[number] ?? speakers.at(-1)}`
  const text = await client.run({ api: service.api, key: service.inferenceKey, fetch: watched, modelOf })
  return { text, faults, warnings }
}

for (const client of AGENT_CLIENTS) {
  describe(client.name, () => {
    for (const dialect of SSE_DIALECTS) {
      test(`${dialect}: over four turns, the model gets its own history back with its thinking signatures byte for byte`, async () => {
        const { text, faults, warnings } = await runLoop(client, [dialect, dialect, dialect, dialect])
        expect(faults).toEqual([])
        expect(text).toBe(FINAL_TEXT)
        expect(warnings).toHaveLength(4)
      })
    }

    for (const [from, to] of SWITCHES) {
      test(`${from}, then ${to}: the history is kept, signatures of another model are removed, and a warning says so`, async () => {
        const { text, faults, warnings } = await runLoop(client, [from, from, to, to])
        expect(faults).toEqual([])
        expect(text).toBe(FINAL_TEXT)
        // A server that speaks Chat Completions itself gets a chat client's thinking unchanged.
        if (!PROVES[from] || !client.carriesProofs || to === 'openai-chat') return
        const unchanged = await runLoop(client, [to, to, to, to])
        expect(warnings[2]).toBeGreaterThan(unchanged.warnings[2] ?? 0)
      })
    }
  })
}
