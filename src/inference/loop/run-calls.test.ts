import { expect, test } from 'bun:test'

import { createFakeIds } from '../../../test/support/fake-ids.ts'
import { callOf } from '../../../test/support/plans.ts'
import type { Tool } from '../../tools/tool.ts'
import { type CallsOfTurn, runCalls, type RunCallsParts } from './run-calls.ts'

const tool = (run: Tool['run']): Tool => ({ description: '', parameters: { type: 'object' }, run })

const turnOf = (tools: Readonly<Record<string, Tool>>): CallsOfTurn => ({
  number: 1,
  besideCalls: false,
  calls: Object.keys(tools).map((name, position) => ({ id: `call-${position}`, name, arguments: '{}', position })),
  refusalOf: () => null,
  offered: {
    byName: new Map(
      Object.entries(tools).map(([name, one]) => [
        name,
        { asked: { tool: 'files', askedAs: 'service:files', at: 'tools[0]', parameters: {} }, name, tool: one, instance: null },
      ]),
    ),
    promptFor: () => prompt,
  },
  refusals: new Map(),
  prompt,
  model: 'm/one',
  ask: () => Promise.reject(new Error('No tool asks here.')),
  dialect: 'chat',
  reportsProgress: () => false,
  signal: new AbortController().signal,
  atEnd: () => undefined,
})

const prompt = callOf({}).prompt()

const PARTS: RunCallsParts = {
  ids: createFakeIds(),
  parallel: 2,
  resultBytes: 1000,
  screen: async (text) => text,
  screens: false,
  seal: (text) => text,
  now: () => 0,
  charge: () => undefined,
  take: () => undefined,
  onFault: () => undefined,
}

test('a tool that throws has a result that says so, its fault is reported, and what it cost until then is charged', async () => {
  const faults: [string, string][] = []
  const charged: number[] = []
  const broken = tool(async (_, { ifStopped }) => {
    ifStopped?.(() => 7)
    throw new Error('The disk is full.')
  })
  const ended = await runCalls(turnOf({ broken, working: tool(async () => ({ fault: null, value: { done: true } })) }), {
    ...PARTS,
    charge: (feeNanos) => void charged.push(feeNanos),
    onFault: (thrown, doing) => void faults.push([String(thrown), doing]),
  })
  expect(ended.map(({ outcome }) => outcome.fault?.code ?? 'none')).toEqual(['unavailable', 'none'])
  expect(ended[0]?.outcome.text).not.toContain('disk')
  expect([faults, charged]).toEqual([[['Error: The disk is full.', 'the tool files failed']], [7, 0]])
})

test('a source after the end of a truncated result is not cited, since the model did not read it', async () => {
  const sources = ['https://a.example/', 'https://b.example/'].map((url) => ({ url, title: null }))
  const results = sources.map(({ url }) => ({ url, content: 'x'.repeat(1000) }))
  const search = tool(async () => ({ fault: null, value: { results }, sources }))
  const [ended] = await runCalls(turnOf({ search }), PARTS)
  expect(ended?.outcome.text).toEndWith('…[truncated]')
  expect(ended?.outcome.sources).toEqual([{ url: 'https://a.example/', title: null }])
})
