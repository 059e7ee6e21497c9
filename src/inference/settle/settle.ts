/**
 * The work after an answer, done once and off the request's path: the permit ends, and the answer is charged, recorded, counted and logged.
 */
import { inputTokens, outputTokens, type Usage } from '../../canonical/usage.ts'
import { withoutAbsent } from '../../contract/generation.ts'
import type { Durations } from '../../ledger/durations.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { costOf } from '../../models/price.ts'
import type { LedgerEntry, Settlement } from '../../storage/ledger/settle-requests.ts'
import type { Sticky } from '../../routing/sticky.ts'
import type { Finished } from '../admitted.ts'
import { generationRecord } from './generation-record.ts'
import type { GenerationRecorder } from './record-generations.ts'
import { rememberRoute } from './remember-route.ts'
import type { AttemptOutcome } from '../run/attempt-outcome.ts'
import type { RunningAnswers } from '../running-answers.ts'

export interface SettleParts {
  readonly ledger: Pick<Ledger, 'ended'>
  readonly durations: Pick<Durations, 'add'>
  readonly recorder: Pick<GenerationRecorder, 'add'>
  readonly running: Pick<RunningAnswers, 'ended'>
  readonly sticky: Sticky
  readonly observe: (finished: Finished) => void
  /** Called with the nano-dollars that a request cost beyond its hold. */
  readonly onOvershoot: (generationId: string, nanos: number) => void
}

/** Never waits and never throws. */
export type Settle = (finished: Finished) => void

export const createSettle =
  (parts: SettleParts): Settle =>
  (finished) => {
    const { request, connection, bill } = finished
    request.permit?.end(inputTokens(bill.usage) + outputTokens(bill.usage))
    parts.running.ended(connection)
    rememberRoute(finished, parts.sticky)
    parts.recorder.add(JSON.stringify(settlement(finished, parts)))
    parts.observe(finished)
  }

const settlement = (finished: Finished, parts: Pick<SettleParts, 'ledger' | 'durations' | 'onOvershoot'>): Settlement => {
  const { request, hold, log, bill } = finished
  const record = generationRecord(finished)
  if (hold !== null) {
    parts.ledger.ended(finished.generationId)
    const over = record.costNanos + record.byokCostNanos - hold.heldNanos
    if (over > 0) parts.onOvershoot(finished.generationId, over)
  }
  const { attempts, error, durationMs } = log
  if (error === null && !log.cancelled && attempts.length > 0) parts.durations.add(record.model, durationMs)
  const { usage, cost } = bill
  return {
    record: { ...record, record: withoutAbsent(record.record) },
    userId: request.caller.userId,
    held: hold !== null,
    final: {
      attempt: Math.max(0, attempts.length - 1),
      provider: record.provider,
      amountNanos: record.costNanos,
      byokNanos: record.byokCostNanos,
      upstreamNanos: attempts.length === 0 ? null : cost.upstreamNanos,
      estimated: usage.estimated,
      usage: usageText(usage),
    },
    attempts: attempts.slice(0, -1).flatMap(failedAttempt),
  }
}

/** A failed attempt that used tokens may be on the operator's bill, but never on the customer's. */
const failedAttempt = ({ planned, usage, error }: AttemptOutcome, attempt: number): readonly LedgerEntry[] => {
  // An attempt without an error may be an earlier turn of an answer that ran tools, which is part of that answer.
  if (error === null || inputTokens(usage) + outputTokens(usage) === 0) return []
  return [
    {
      attempt,
      provider: planned.endpoint.provider.slug,
      amountNanos: 0,
      byokNanos: 0,
      upstreamNanos: costOf(usage, planned.endpoint.prices).upstreamNanos,
      estimated: usage.estimated,
      usage: usageText(usage),
    },
  ]
}

/** The counts as JSON, without zeros. */
const usageText = (usage: Usage): string => {
  const counted: Record<string, Usage[keyof Usage]> = {}
  for (const name in usage) {
    const value = usage[name as keyof Usage]
    if (value !== 0 && value !== null && value !== false) counted[name] = value
  }
  return JSON.stringify(counted)
}
