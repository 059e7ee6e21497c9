import { describe, expect, test } from 'bun:test'

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

describe('a guardrail that reads what tools are given and return', () => {
  const hiding = {
    ...PARTS,
    screens: true,
    screen: async (text: string) => (text.includes('blocked') ? null : text.replaceAll('secret', '[hidden]')),
  }

  test('sees the arguments before the tool does, and what it blocks never reaches the tool', async () => {
    const given: unknown[] = []
    const echo = tool(async (input) => {
      given.push(input)
      return { fault: null, value: {} }
    })
    const turn = turnOf({ one: echo, two: echo })
    const calls = turn.calls.map((call, at) => ({ ...call, arguments: at === 0 ? '{"q":"secret"}' : '{"q":"blocked"}' }))
    const ended = await runCalls({ ...turn, calls }, hiding)
    expect(given).toEqual([{ q: '[hidden]' }])
    expect(ended.map(({ outcome, executed }) => [outcome.fault?.code ?? null, executed])).toEqual([
      [null, true],
      ['blocked_by_guardrail', false],
    ])
  })

  test('keeps from the client what it keeps from the model, and no progress is sent of a result that it has not read', async () => {
    const frames: unknown[] = []
    const told = tool(async (_, { reportProgress }) => {
      await reportProgress?.({ text: 'secret' } as never)
      return { fault: null, value: { text: 'secret' } }
    })
    const turn = { ...turnOf({ told }), reportsProgress: () => true }
    const take = (batch: unknown): undefined => void frames.push(batch)
    const [ended] = await runCalls(turn, { ...hiding, take })
    expect(ended?.outcome).toMatchObject({ value: { text: '[hidden]' }, text: '{"text":"[hidden]"}' })
    expect(JSON.stringify(frames)).not.toContain('secret')
    await runCalls(turn, { ...PARTS, take })
    expect(JSON.stringify(frames)).toContain('server-tool-progress')
  })
})

test('no more tools run at once than are allowed, and the results keep the order of the calls', async () => {
  let running = 0
  let most = 0
  const slow = tool(async () => {
    running += 1
    most = Math.max(most, running)
    await new Promise(setImmediate)
    running -= 1
    return { fault: null, value: {} }
  })
  const ended = await runCalls(turnOf({ a: slow, b: slow, c: slow, d: slow, e: slow }), PARTS)
  expect([most, ended.map(({ call }) => call.name)]).toEqual([2, ['a', 'b', 'c', 'd', 'e']])
})

test('when the time is over, a tool that runs is left with its cost until then, and one that waits is not begun', async () => {
  const over = new AbortController()
  const begun: string[] = []
  const charged: number[] = []
  const endless = (name: string) =>
    tool(async (_, { ifStopped }) => {
      begun.push(name)
      ifStopped?.(() => 7)
      if (begun.length === 2) over.abort()
      return new Promise(() => undefined)
    })
  const turn = { ...turnOf({ a: endless('a'), b: endless('b'), c: endless('c') }), signal: over.signal }
  const ended = await runCalls(turn, { ...PARTS, charge: (feeNanos) => void charged.push(feeNanos) })
  expect(ended.map(({ outcome, executed }) => [outcome.fault?.code, executed])).toEqual([
    ['execution_time_exceeded', true],
    ['execution_time_exceeded', true],
    ['execution_time_exceeded', false],
  ])
  expect([begun, charged]).toEqual([
    ['a', 'b'],
    [7, 7, 0],
  ])
})

test('a tool that throws because its time is over has ended for lack of time, and no fault of its own is reported', async () => {
  const over = new AbortController()
  const faults: unknown[] = []
  const stopped = tool(async () => {
    over.abort()
    throw new Error('aborted')
  })
  const [ended] = await runCalls(
    { ...turnOf({ stopped }), signal: over.signal },
    { ...PARTS, onFault: (thrown) => void faults.push(thrown) },
  )
  expect([ended?.outcome.fault?.code, faults]).toEqual(['execution_time_exceeded', []])
})

test('a result is cut to the bytes that are allowed, and sealed only where the client gets a part of it and the tool succeeded', async () => {
  const failing = { code: 'unavailable', message: 'no' } as const
  const long = tool(async () => ({ fault: null, value: { text: 'x'.repeat(2000) }, partlyShown: true }))
  const failed = tool(async () => ({ fault: failing, value: {}, partlyShown: true }))
  const [cut, refused] = await runCalls(turnOf({ long, failed }), { ...PARTS, seal: (text) => `sealed ${text}` })
  expect([Buffer.byteLength(cut?.outcome.text ?? ''), cut?.outcome.sealed]).toEqual([1000, `sealed ${cut?.outcome.text}`])
  expect(refused?.outcome.sealed).toBeUndefined()
})

test('a call that its tool did not begin to run counts as not executed', async () => {
  const fault = { code: 'max_uses_exceeded', message: 'no' } as const
  const [ended] = await runCalls(turnOf({ used: tool(async () => ({ fault, value: {} })) }), PARTS)
  expect(ended?.executed).toBe(false)
})
