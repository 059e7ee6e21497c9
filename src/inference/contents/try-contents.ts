/**
 * Tries guardrails on stored contents: shows what they would do with earlier requests and answers. Yields between two of them, and ends
 * when it has read or worked as much as one trial may; those that were not tried are counted.
 */
import type { z } from 'zod'

import { askedAndAnswered } from '../../contract/generation-content.ts'
import type { guardrailRecordedTest } from '../../contract/guardrail-test.ts'
import { GatewayError } from '../../errors.ts'
import type { Effective } from '../../guardrails/effective.ts'
import type { ScreenLimits } from '../../guardrails/screen-request.ts'
import { judgeInput, judgeOutput, type Verdict } from '../../guardrails/trial.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { type JsonObject, textsIn } from '../../lib/json/json.ts'
import type { ContentStore } from '../../storage/generations/content-store.ts'
import type { ListedGeneration } from '../../storage/generations/generation-list.ts'
import { StorageUnavailable } from '../../storage/storage-errors.ts'
import { answerText } from './answer-text.ts'

type Report = z.output<typeof guardrailRecordedTest>
type Found = Report['found'][number]

export interface TryContents {
  readonly store: Pick<ContentStore, 'get' | 'sizesOf'>
  readonly limits: ScreenLimits
  /** Resolves when the next large step may run. */
  readonly largeStep: () => Promise<void>
  readonly signal: AbortSignal
}

/** In characters as stored. Contents of this size are opened, parsed and written in a step of a few milliseconds. */
const ONE_MAX = 512 * 1024
const ALL_MAX = 24 * 1024 * 1024
const WITHIN_MS = 10_000

/** Chooses which contents are read, before any of them is. */
export const chooseContents = async (rows: readonly ListedGeneration[], store: Pick<ContentStore, 'sizesOf'>): Promise<Chosen> => {
  const kept = rows.filter(({ hasContent }) => hasContent)
  const sizes = await store.sizesOf(kept.map(({ id }) => id))
  const leftOut = { too_large: 0, no_room: 0, gone: 0 }
  const chosen: ListedGeneration[] = []
  let total = 0
  for (const row of kept) {
    const size = sizes.get(row.id)
    if (size === undefined) leftOut.gone += 1
    else if (size > ONE_MAX) leftOut.too_large += 1
    else if (total + size > ALL_MAX) leftOut.no_room += 1
    else {
      total += size
      chosen.push(row)
    }
  }
  return { lookedAt: rows.length, withContents: kept.length, chosen, leftOut }
}

export interface Chosen {
  readonly lookedAt: number
  readonly withContents: number
  readonly chosen: readonly ListedGeneration[]
  readonly leftOut: Report['left_out']
}

export const tryContents = async (
  { lookedAt, withContents, chosen, leftOut: before }: Chosen,
  effective: Effective | null,
  { store, limits, largeStep, signal }: TryContents,
): Promise<Report> => {
  const leftOut = { ...before }
  const counts = { blocked: 0, redacted: 0, flagged: 0, passed: 0 }
  const found: Found[] = []
  const endMs = limits.clock.monotonicMs() + WITHIN_MS
  for (const { id, workspaceId, createdAt } of chosen) {
    const leftMs = endMs - limits.clock.monotonicMs()
    if (leftMs <= 0 || signal.aborted) {
      leftOut.no_room += 1
      continue
    }
    await largeStep()
    const content = await contentOf(id, workspaceId, store)
    if (content === 'gone' || content === 'too_large') {
      leftOut[content] += 1
      continue
    }
    await largeStep()
    const sides = await verdictsOf(content, effective, { ...limits, screenMs: Math.min(limits.screenMs, leftMs) })
    if (sides === null) {
      leftOut.no_room += 1
      continue
    }
    const outcome = worstOf(sides)
    counts[outcome] += 1
    if (outcome !== 'passed') found.push({ generation_id: id, created_at: createdAt, outcome, ...findsOf(sides) })
  }
  const tried = counts.blocked + counts.redacted + counts.flagged + counts.passed
  return { looked_at: lookedAt, with_contents: withContents, tried, left_out: leftOut, ...counts, found }
}

interface Content {
  readonly request: JsonBody
  readonly answer: string
}

/** Contents that can no longer be opened are skipped, and the others are still tried. */
const contentOf = async (id: string, workspaceId: string, store: Pick<ContentStore, 'get'>): Promise<Content | 'gone' | 'too_large'> => {
  const found = await store.get(id, workspaceId).catch((thrown: unknown) => {
    if (thrown instanceof StorageUnavailable) throw thrown
    return null
  })
  const content = found === null ? undefined : askedAndAnswered.safeParse(found.content).data
  if (content === undefined) return 'gone'
  const { interface: dialect, request, answer } = content
  if (request === null) return 'too_large'
  return { request: bodyOf(request), answer: answer === null ? '' : answerText(dialect, answer) }
}

const bodyOf = (request: JsonObject): JsonBody => JsonBody.ofParsed(JSON.stringify(request))

interface Sides {
  readonly input: Verdict
  readonly output: Verdict
}

/** Null if screening takes longer than allowed, so that the outcome is unknown. */
const verdictsOf = async ({ request, answer }: Content, effective: Effective | null, limits: ScreenLimits): Promise<Sides | null> => {
  try {
    return { input: await judgeInput(request, effective, limits), output: await judgeOutput(answer, effective, limits) }
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.type === 'provider_overloaded') return null
    throw thrown
  }
}

const WORST = ['blocked', 'redacted', 'flagged'] as const

const worstOf = ({ input, output }: Sides): Verdict['outcome'] =>
  WORST.find((outcome) => input.outcome === outcome || output.outcome === outcome) ?? 'passed'

const findsOf = (sides: Sides): Pick<Found, 'sides' | 'filters'> => ({
  sides: (['input', 'output'] as const).filter((side) => sides[side].outcome !== 'passed'),
  filters: [...new Set([sides.input, sides.output].flatMap(({ effects }) => effects.flatMap(({ data }) => patternsOf(data))))],
})

const patternsOf = ({ patterns }: Readonly<Record<string, unknown>>): readonly string[] => textsIn(patterns)
