import { beforeAll, describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { preparedFrom, receivedFrom } from '../../../test/support/pipelines.ts'
import { endpoint, planOf, priced, provider } from '../../../test/support/plans.ts'
import { PICTURE_TOKENS, usageOf } from '../../canonical/usage.ts'
import { GatewayError } from '../../errors.ts'
import { Hold } from './hold.ts'
import { Purse } from './purse.ts'
import type { Planned } from '../request.ts'
import { isUnheldTools } from '../unheld-tools.ts'

const SETTINGS = { assumedPrices: { prompt: 1, completion: 1 }, maxOutputTokens: 1000 }
const BODY = JSON.stringify({ model: 'one', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 10 })
const REFUSED = new GatewayError('permission_denied', undefined, { metadata: { reason: 'budget', limit_source: 'workspace' } })

const AWAY = new GatewayError('provider_overloaded', 'away', { status: 503 })

const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((thrown: unknown) => thrown)

const planned = async (fields: Readonly<Record<string, unknown>> = {}): Promise<Planned> => {
  const clock = createFakeClock()
  const prepared = await preparedFrom(clock, receivedFrom({ model: 'm/one', messages: [{ role: 'user', content: 'Hi' }], ...fields }))
  return { ...prepared, plan: planOf([priced('p', 10)]), tools: null, search: null }
}

const withTools = async (): Promise<Planned> => {
  const promptFor = (): never => {
    throw new Error('Nothing is sent here.')
  }
  return { ...(await planned()), tools: { byName: new Map(), promptFor } }
}

const attemptOf = ({ plan }: Planned) => {
  const [attempt] = plan.attempts
  if (attempt === undefined) throw new Error('not planned')
  return attempt
}

/** Endpoints of OpenAI, whose tools draw; the second asks twice as much for it. */
const drawing = async (fields: Readonly<Record<string, unknown>> = {}): Promise<Planned> => {
  const body = { model: 'm/one', input: 'Draw.', tools: [{ type: 'image_generation' }], ...fields }
  const prepared = await preparedFrom(createFakeClock(), receivedFrom(body, { dialect: 'responses' }))
  const openai = { ...provider('openai'), dialects: ['openai-responses'] as const }
  const served = [priced('openai', 10), endpoint('openai/dear', { prices: { prompt: 5, completion: 5, drawing: 80 } })]
  return { ...prepared, plan: planOf(served.map((each) => ({ ...each, provider: openai }))), tools: null, search: null }
}

/** In nano-dollars, at the first of those endpoints. */
const PICTURE = PICTURE_TOKENS * 40_000

/** A hold that begins with `heldNanos`, and the amounts to which it asked the ledger to grow. */
const open = (request: Planned, heldNanos: number, refusal: GatewayError | null = null) => {
  const refuse = (error: GatewayError): void => void (refusal = error)
  const grown: number[] = []
  const demand = { id: 'gen-1', spender: request.caller, atMs: 0, scopes: [], promptNanos: 0, provider: null, expectedMs: 0 }
  const purse = new Purse(
    { ...demand, estimateNanos: heldNanos },
    {
      async grow({ estimateNanos }) {
        grown.push(estimateNanos)
        if (refusal !== null) throw refusal
      },
    },
  )
  const hold = new Hold(request, purse, heldNanos, SETTINGS)
  const cover = async (body = BODY): Promise<void> => hold.cover(attemptOf(request), body, undefined)
  return { hold, purse, grown, cover, refuse }
}

/** The most that the body can cost. */
let cost = 0
beforeAll(async () => {
  const { grown, cover } = open(await planned(), 0)
  await cover()
  cost = grown[0] ?? 0
  expect(cost).toBeGreaterThan(0)
})

describe('a body', () => {
  test('goes out without asking the ledger if the hold covers it, and grows the hold by what is missing', async () => {
    const request = await planned()
    const enough = open(request, cost)
    expect(enough.hold.cover(attemptOf(request), BODY, undefined)).toBeUndefined()
    const short = open(request, cost - 1)
    await short.cover()
    await short.cover()
    expect([enough.grown, short.grown, short.hold.heldNanos]).toEqual([[], [cost], cost])
  })

  test('has to fit beside what the turns before it cost', async () => {
    const { hold, grown, cover } = open(await planned(), cost)
    hold.spend(5)
    await cover()
    expect(grown).toEqual([cost + 5])
  })

  test('has to fit three times where tools run, and once where it is the last', async () => {
    const { hold, grown, cover } = open(await withTools(), 0)
    await cover()
    hold.spend(cost * 2)
    hold.useReserve()
    await cover()
    expect(grown).toEqual([cost * 3])
  })

  test('that the budgets cannot pay for is not sent, and the hold has run dry', async () => {
    const { hold, cover } = open(await planned(), 0, REFUSED)
    expect(hold.ranDry).toBe(false)
    expect(await failureOf(cover())).toBe(REFUSED)
    expect(hold.ranDry).toBe(true)
  })

  test('that goes out after one that was not sent has not run dry', async () => {
    const { hold, cover } = open(await withTools(), cost, REFUSED)
    expect(await failureOf(cover())).toBe(REFUSED)
    hold.useReserve()
    await cover()
    expect(hold.ranDry).toBe(false)
  })

  test('a fee that the budgets cannot pay for is no body that was not sent', async () => {
    const { hold } = open(await planned(), 0, REFUSED)
    expect(await hold.coversFees(0, 1)).toBe(false)
    expect(hold.ranDry).toBe(false)
  })

  test('that cannot be counted now is not sent either, but no budget has run dry', async () => {
    const { hold, cover } = open(await planned(), 0, AWAY)
    expect(await failureOf(cover())).toBe(AWAY)
    expect(hold.ranDry).toBe(false)
  })
})

describe('the fees of tools', () => {
  test('are covered beside what was spent and two more turns', async () => {
    const { hold, grown, cover } = open(await withTools(), cost * 3)
    await cover()
    expect(await hold.coversFees(cost, 0)).toBe(true)
    expect(grown).toEqual([])
    expect(await hold.coversFees(cost, 7)).toBe(true)
    expect(grown).toEqual([cost * 3 + 7])
  })

  test('that the budgets cannot pay for are not covered; storage that is away is no answer', async () => {
    expect(await open(await withTools(), 0, REFUSED).hold.coversFees(1, 1)).toBe(false)
    expect(await failureOf(open(await withTools(), 0, AWAY).hold.coversFees(1, 1))).toBe(AWAY)
  })
})

describe('the pictures of a whole answer', () => {
  test.each([
    [{}, 4],
    [{ max_tool_calls: 2 }, 2],
  ])('that asks for %j are held once, beside its body, and so many may be drawn: %i', async (fields, pictures) => {
    const request = await drawing(fields)
    const { hold, grown, cover } = open(request, 0)
    const held = (pictures - 1) * PICTURE
    for (let attempt = 0; attempt < 2; attempt += 1) expect(await hold.toolCalls(attemptOf(request))).toBe(pictures)
    expect(grown).toEqual([held])
    await cover(request.call.body.text)
    expect(grown[1]).toBeGreaterThan(held + PICTURE)
    expect(grown[1]).toBeLessThan(held + 2 * PICTURE)
  })

  test('are as many as the budgets can pay for: one, and those that an earlier attempt could hold', async () => {
    const request = await drawing()
    const [first, dear] = request.plan.attempts
    if (first === undefined || dear === undefined) throw new Error('not planned')
    expect(await open(request, 0, REFUSED).hold.toolCalls(first)).toBe(1)
    const { hold, refuse } = open(request, 0)
    await hold.toolCalls(first)
    refuse(REFUSED)
    expect(await hold.toolCalls(dear)).toBe(2)
  })

  test('are not decided while storage is away', async () => {
    const request = await drawing()
    expect(await failureOf(Promise.resolve(open(request, 0, AWAY).hold.toolCalls(attemptOf(request))))).toBe(AWAY)
  })
})

describe('a stream whose tools draw', () => {
  const pictures = (count: number) => usageOf({ drawn: count * PICTURE_TOKENS })

  /** The body of the stream has gone out, with one picture. */
  const begun = async () => {
    const request = await drawing({ stream: true })
    const opened = open(request, 0)
    await opened.cover(request.call.body.text)
    return {
      ...opened,
      body: request.call.body.text,
      sent: opened.grown[0] ?? 0,
      draw: async (count: number) => opened.hold.coverTools(attemptOf(request), pictures(count)),
    }
  }

  test('goes on once each picture beyond the one of its body is held, and what a turn drew is spent with it', async () => {
    const { hold, grown, sent, body, draw, cover } = await begun()
    for (const count of [1, 2, 2, 3]) await draw(count)
    expect(grown).toEqual([sent, sent + PICTURE, sent + 2 * PICTURE])
    hold.spend(2 * PICTURE)
    await cover(body)
    expect(grown).toHaveLength(3)
  })

  test('ends if they cannot be held, and no other body takes its place', async () => {
    const { hold, refuse, draw } = await begun()
    refuse(REFUSED)
    const refused = await failureOf(draw(2))
    expect(refused).toMatchObject({ type: REFUSED.type, metadata: REFUSED.metadata })
    expect([refused instanceof GatewayError && isUnheldTools(refused), hold.ranDry]).toEqual([true, false])
  })
})

test('an inference within another has a share of its own, and what it did not spend is free for the next', async () => {
  const request = await planned()
  const { hold, grown } = open(request, cost)
  for (let question = 0; question < 3; question += 1) {
    const inner = hold.within(request)
    await inner.cover(attemptOf(request), BODY, undefined)
    inner.end(question === 0 ? 5 : 0)
  }
  expect(grown).toEqual([cost * 2, cost * 2 + 5])
})

test('an output limit is sent only where the request sets none', async () => {
  const limit = async (fields: Readonly<Record<string, unknown>>) => {
    const request = await planned(fields)
    return open(request, 0).hold.outputTokens(attemptOf(request).endpoint)
  }
  expect([await limit({}), await limit({ max_tokens: 10 })]).toEqual([1000, null])
})
