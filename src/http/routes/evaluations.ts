/** Evaluations of a preset: started, watched, exported, cancelled (docs/contract/presets.md#evaluations). */
import { z } from 'zod'

import {
  evaluation,
  evaluationBody,
  evaluationComparison,
  evaluationEstimate,
  evaluationId,
  evaluationResume,
  evaluationWithItems,
  type EvaluationComparison,
  type EvaluationResource,
  type EvaluationResult,
} from '../../contract/evaluation.ts'
import { onceHeaders } from '../../contract/idempotency.ts'
import { listOf, listPaging } from '../../contract/paging.ts'
import { presetSlug } from '../../contract/preset-name.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import type { EvaluationDetails, Evaluations } from '../../inference/evaluations/evaluations.ts'
import type { Keys } from '../../keys/keys.ts'
import type { Clock } from '../../lib/clock.ts'
import { csvLine } from '../../lib/text/csv.ts'
import { readOptionalObject } from '../../lib/json/json-body.ts'
import type { AuditLog } from '../../storage/changes/audit-log.ts'
import { auditOf } from '../../storage/presets/preset-ref.ts'
import { answerOnce, type Onceness } from '../answer-once.ts'
import { checkPatterns } from '../check-patterns.ts'
import { acceptedTable } from '../response/accepted-table.ts'
import { csvHeaders } from '../response/csv-stream.ts'
import { jsonInTurns, jsonResponse, linesInTurns } from '../response/json-response.ts'
import { payerOf } from '../payer.ts'
import { presetIn } from '../preset-path.ts'
import { changedBy, changeOf, type Route, type RouteRequest } from '../route.ts'

const shared = { tag: 'Presets', policy: 'management', surface: 'management' } as const

const idOf = (request: RouteRequest): string => validate(evaluationId, request.params['id'], ['id'])

const whole = z.object({ data: evaluationWithItems })
const one = {
  ...shared,
  path: '/presets/:slug/evaluations/:id',
  params: { slug: presetSlug, id: evaluationId },
  query: inWorkspace,
  errors: [400, 404, 409],
} as const

/** The types of a list of items as lines. */
const LINES = ['text/csv', 'application/x-ndjson'] as const

export interface EvaluationRouteParts {
  readonly evaluations: Evaluations
  readonly keys: Pick<Keys, 'payer' | 'playground'>
  readonly onceness: Onceness
  readonly auditLog: Pick<AuditLog, 'note'>
  readonly clock: Clock
}

export const evaluationRoutes = ({ evaluations, keys, onceness, ...audit }: EvaluationRouteParts): readonly Route[] => [
  {
    ...shared,
    method: 'POST',
    path: '/presets/:slug/evaluations',
    operation: 'createPresetEvaluation',
    summary: 'Run a version of a preset over items and check its answers',
    params: { slug: presetSlug },
    query: inWorkspace,
    headers: onceHeaders,
    body: evaluationBody,
    answers: {
      200: { description: 'With dry_run: what it may cost.', schema: z.object({ data: evaluationEstimate }) },
      201: { description: 'The evaluation, which runs from now on.', schema: whole },
    },
    errors: [404, 409],
    async handle(request) {
      const ref = presetIn(request)
      const { members, text } = await request.object()
      const body = validate(evaluationBody, members)
      await checkPatterns(
        request,
        body.checks.flatMap((check, index) =>
          check.type === 'pattern' ? [{ path: `checks[${index}].pattern`, pattern: check.pattern }] : [],
        ),
      )
      const payer = await payerOf(request, keys, body.key)
      if (body.dry_run) return jsonResponse({ data: await evaluations.estimate(ref, body, payer) })
      return answerOnce<EvaluationDetails>(
        { request, operation: 'createPresetEvaluation', asked: () => `${ref.slug}\n${text()}` },
        onceness,
        (once) => evaluations.start(ref, body, payer, changedBy(request), once),
        (data) => ({ data }),
        {
          kept: (made) => ({ begun: Object.fromEntries(Object.entries(made).filter(([name]) => name !== 'items')) }),
          async whole(kept) {
            // An older version kept whole answers.
            if (!kept.startsWith('{"begun":')) return null
            const { begun } = JSON.parse(kept) as { begun: EvaluationResource }
            return evaluations.begun(ref, begun)
          },
        },
      )
    },
  },
  {
    ...shared,
    method: 'GET',
    path: '/presets/:slug/evaluations',
    operation: 'listPresetEvaluations',
    summary: 'List the evaluations of a preset, newest first',
    params: { slug: presetSlug },
    query: { ...listPaging.query, ...inWorkspace },
    answers: {
      200: { description: 'Evaluations without their items.', schema: listOf(evaluation.omit({ summary: true, items_done: true })) },
    },
    errors: [400, 404],
    async handle(request) {
      const page = await evaluations.list(presetIn(request), listPaging.read(request.query))
      return jsonResponse({ data: page.items, total_count: page.totalCount })
    },
  },
  {
    ...one,
    method: 'GET',
    operation: 'getPresetEvaluation',
    summary: 'Read an evaluation with its items; as CSV or JSON lines where the request accepts those',
    answers: { 200: { description: 'The evaluation as far as it is.', schema: whole, types: LINES } },
    async handle(request) {
      const found = await evaluations.get(presetIn(request), idOf(request))
      const named = { name: `evaluation-${found.id}`, ids: { evaluation_id: found.id } }
      return (await exported(request, named, found.items, resultLines, audit)) ?? jsonInTurns({ data: found }, request.startTurn())
    },
  },
  {
    ...one,
    method: 'GET',
    path: '/presets/:slug/evaluations/:id/comparison',
    operation: 'comparePresetEvaluations',
    summary: 'Compare an evaluation with another one of the preset, item by item; as CSV or JSON lines where the request accepts those',
    query: { with: evaluationId, ...inWorkspace },
    answers: {
      200: {
        description: 'Both evaluations, and their items side by side.',
        schema: z.object({ data: evaluationComparison }),
        types: LINES,
      },
    },
    async handle(request) {
      const other = validate(evaluationId, request.query.get('with') ?? undefined, ['with'])
      const found = await evaluations.compare(presetIn(request), idOf(request), other)
      const id = found.evaluation.id
      const otherId = found.other.id
      const named = { name: `evaluation-${id}-${otherId}`, ids: { evaluation_id: id, compared_with: otherId } }
      return (await exported(request, named, found.items, comparisonLines, audit)) ?? jsonInTurns({ data: found }, request.startTurn())
    },
  },
  {
    ...one,
    method: 'POST',
    path: '/presets/:slug/evaluations/:id/cancel',
    operation: 'cancelPresetEvaluation',
    summary: 'Cancel an evaluation: no more requests are made, and what is done stays',
    answers: { 200: { description: 'The evaluation.', schema: whole } },
    async handle(request) {
      const data = await evaluations.cancel(presetIn(request), idOf(request), changedBy(request))
      return jsonInTurns({ data }, request.startTurn())
    },
  },
  {
    ...one,
    method: 'POST',
    path: '/presets/:slug/evaluations/:id/resume',
    operation: 'resumePresetEvaluation',
    summary: 'Go on with an evaluation that was stopped or cancelled: what is done is not run again',
    body: evaluationResume,
    answers: { 200: { description: 'The evaluation, which runs from now on.', schema: whole } },
    async handle(request) {
      const body = validate(evaluationResume, readOptionalObject(await request.text()))
      const data = await evaluations.resume(presetIn(request), idOf(request), body, changedBy(request))
      return jsonInTurns({ data }, request.startTurn())
    },
  },
  {
    ...one,
    method: 'DELETE',
    operation: 'deletePresetEvaluation',
    summary: 'Delete an evaluation with all that it found',
    answers: { 200: { description: 'Deleted.', schema: z.object({ deleted: z.literal(true) }) } },
    async handle(request) {
      await evaluations.delete(presetIn(request), idOf(request), changedBy(request))
      return jsonResponse({ deleted: true })
    },
  },
]

/** Null if JSON is asked for. An export is an entry of the audit log, as other tables are. */
const exported = async <Item>(
  request: RouteRequest,
  { name, ids }: { readonly name: string; readonly ids: Readonly<Record<string, string>> },
  items: readonly Item[],
  csvLines: (items: readonly Item[]) => Iterable<string>,
  { auditLog, clock }: Pick<EvaluationRouteParts, 'auditLog' | 'clock'>,
): Promise<Response | null> => {
  const type = acceptedTable(request.headers, [...LINES, 'application/jsonl'])
  if (type === null) return null
  const entry = { ...auditOf(presetIn(request), 'evaluation_exported'), before: null, after: { ...ids, as: type } }
  await auditLog.note(entry, changeOf(request, clock))
  if (type === 'text/csv') return linesInTurns(csvLines(items), csvHeaders(`${name}.csv`), request.startTurn())
  const headers = { 'content-type': 'application/x-ndjson; charset=utf-8', 'cache-control': 'no-store' }
  return linesInTurns(jsonLines(items), headers, request.startTurn())
}

function* jsonLines(items: readonly unknown[]): Generator<string> {
  for (const item of items) yield `${JSON.stringify(item)}\n`
}

const ITEM_COLUMNS = ['generation_id', 'input', 'expected'] as const
const OUTCOME_COLUMNS = ['passed', 'answer', 'error', 'cost', 'total_ms'] as const
const prefixed = (prefix: string): readonly string[] => OUTCOME_COLUMNS.map((column) => `${prefix}_${column}`)

function* resultLines(items: readonly EvaluationResult[]): Generator<string> {
  yield csvLine(['position', 'state', ...ITEM_COLUMNS, ...OUTCOME_COLUMNS, ...prefixed('baseline')])
  for (const item of items)
    yield csvLine([item.position, item.state, ...itemCells(item), ...cellsOf(item.answer), ...cellsOf(item.baseline)])
}

function* comparisonLines(items: readonly EvaluationComparison['items'][number][]): Generator<string> {
  yield csvLine(['change', ...ITEM_COLUMNS, ...OUTCOME_COLUMNS, ...prefixed('other')])
  for (const item of items) yield csvLine([item.change, ...itemCells(item), ...cellsOf(item.answer), ...cellsOf(item.other_answer)])
}

const itemCells = ({ generation_id, messages, expected }: Pick<EvaluationResult, 'generation_id' | 'messages' | 'expected'>) => [
  generation_id,
  messages === null ? null : JSON.stringify(messages),
  expected === null ? null : typeof expected === 'string' ? expected : JSON.stringify(expected),
]

const cellsOf = (outcome: EvaluationResult['answer']) =>
  outcome === null
    ? [null, null, null, null, null]
    : [outcome.passed, outcome.text, outcome.error?.message ?? null, outcome.cost, outcome.total_ms]
