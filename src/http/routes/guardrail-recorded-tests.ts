/**
 * Tries guardrails on the newest requests whose contents are stored: nothing is sent, charged
 * or changed (docs/contract/guardrails.md#tests).
 */
import { z } from 'zod'

import { guardrailRecordedTest, guardrailRecordedTestBody } from '../../contract/guardrail-test.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import type { Guardrails } from '../../guardrails/guardrails.ts'
import type { ScreenLimits } from '../../guardrails/screen-request.ts'
import { chooseContents, tryContents, type Chosen } from '../../inference/contents/try-contents.ts'
import type { Keys } from '../../keys/keys.ts'
import { isoTimestamp } from '../../lib/clock.ts'
import { readJsonObject } from '../../lib/json/json-body.ts'
import type { AuditLog } from '../../storage/changes/audit-log.ts'
import type { ContentStore } from '../../storage/generations/content-store.ts'
import type { GenerationList } from '../../storage/generations/generation-list.ts'
import { jsonResponse } from '../response/json-response.ts'
import type { PacedReads } from '../paced-reads.ts'
import { changeOf, type Route } from '../route.ts'
import { triedRules } from './guardrail-tests.ts'

export interface GuardrailRecordedTestParts {
  readonly guardrails: Guardrails
  readonly keys: Keys
  readonly screenLimits: ScreenLimits
  readonly generations: { readonly list: Pick<GenerationList, 'page'>; readonly flush: () => Promise<void> }
  readonly contents: { readonly store: Pick<ContentStore, 'get' | 'sizesOf'>; readonly flush: () => Promise<void> }
  readonly auditLog: Pick<AuditLog, 'note'>
  readonly reads: PacedReads
  readonly largeStep: () => Promise<void>
}

/** A trial stops reading after ten seconds; the list before it and the last content take some more. */
export const TRIAL_ANSWER_MS = 20_000

const OPERATION = 'testGuardrailOnRequests'
/** Contents are kept for as long as a workspace says, so the range has no beginning. */
const EVER = isoTimestamp(0)

export const guardrailRecordedTestsCreate = (parts: GuardrailRecordedTestParts): Route => ({
  method: 'POST',
  path: '/guardrail-tests/requests',
  operation: OPERATION,
  summary: 'Try a guardrail, saved or drafted, on the newest requests whose contents are stored',
  tag: 'Guardrails',
  policy: 'management',
  surface: 'management',
  query: inWorkspace,
  body: guardrailRecordedTestBody,
  answers: {
    200: {
      description: 'How many would be blocked, redacted or flagged, and which. The reading is an entry of the audit log.',
      schema: z.object({ data: guardrailRecordedTest }),
    },
  },
  errors: [400, 404, 503],
  async handle(request) {
    const asked = validate(guardrailRecordedTestBody, readJsonObject(await request.text()))
    const { workspaceId, effective } = await triedRules(request, asked, parts)
    const { generations, contents, screenLimits, auditLog, largeStep } = parts
    await generations.flush()
    await contents.flush()
    const data = await parts.reads.run(request, OPERATION, async () => {
      const filter = { from: EVER, to: null, workspaceId, ownedBy: null, keyHash: asked.as_key }
      const { rows } = await generations.list.page(filter, null, asked.limit)
      const chosen = await chooseContents(rows, contents.store)
      if (chosen.chosen.length > 0)
        await auditLog.note({ ...readingOf(chosen, asked.guardrail_id), workspaceId }, changeOf(request, screenLimits.clock))
      return tryContents(chosen, effective, { store: contents.store, limits: screenLimits, largeStep, signal: request.signal })
    })
    return jsonResponse({ data })
  },
})

/** One entry names everything that is read, and is written before it is read. */
const readingOf = ({ chosen }: Chosen, guardrailId: string | undefined) => ({
  action: 'screened',
  objectType: 'generation_content' as const,
  objectId: guardrailId ?? 'draft',
  before: null,
  after: { generation_ids: chosen.map(({ id }) => id) },
})
