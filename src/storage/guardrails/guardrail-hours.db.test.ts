import { expect, test } from 'bun:test'

import { describeEachEngine } from '../../../test/support/databases.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { GenerationRecord } from '../generations/generation-store.ts'
import { createGuardrailHitStore } from './guardrail-hours.ts'
import { createLedgerStore } from '../ledger/ledger-store.ts'
import { settlementOf } from '../testing/settlement.ts'
import { generationRecord } from '../testing/generation-record.ts'

const found = (guardrailId: string, rules: readonly string[], more: JsonObject = {}): JsonObject => ({
  type: 'guardrail',
  name: 'content-filter',
  guardrail_id: guardrailId,
  guardrail_scope: 'api-key',
  data: { action: 'redacted', detected: true, engines: ['regex'], matches: rules.length, rules: [...rules] },
  ...more,
})

const recordOf = (id: string, hour: string, pipeline: readonly JsonObject[]): GenerationRecord =>
  generationRecord({ id, createdAt: `2026-11-20T${hour}:30:00.000Z`, model: 'm/1', record: { pipeline: [...pipeline] } })

/** A record of the service's own request, which no client sent. */
const ownOf = (record: GenerationRecord, origin: string): GenerationRecord => ({ ...record, record: { ...record.record, origin } })

describeEachEngine('hits of guardrails', (engine) => {
  test('count each request of a client once for each rule, as often as it is settled, from the given hour on: tests and evaluations are none', async () => {
    const database = await engine.open()
    const hits = createGuardrailHitStore(database)
    const both = [found('g-1', ['[EMAIL]', '[PHONE]']), found('g-1', ['[EMAIL]']), found('g-2', ['[EMAIL]'])]
    const settlements = [
      recordOf('gen-1', '05', both),
      recordOf('gen-2', '06', [found('g-1', ['[EMAIL]'])]),
      recordOf('gen-3', '06', []),
      recordOf('gen-4', '06', [found('g-1', ['[PROMPT_INJECTION]'], { name: 'regex_pi_detection' })]),
      recordOf('gen-5', '06', [
        found('g-2', ['house rules'], { name: 'moderation' }),
        { type: 'plugin', name: 'moderation', cost_usd: 0, data: { engines: ['house rules'] } },
      ]),
    ]
      .concat(ownOf(recordOf('gen-6', '06', both), 'test'), ownOf(recordOf('gen-7', '06', both), 'evaluation'))
      .map((record) => settlementOf(record))
    const ledger = createLedgerStore(database)
    await ledger.settle(settlements)
    await ledger.settle(settlements)
    await hits.add([{ guardrail_id: 'g-1', hour: '2026-11-20T06', rule: '[EMAIL]', requests: 7 }])
    expect(
      [...(await hits.read(['g-1', 'g-2', 'g-3'], '2026-11-20T00'))].map(([id, rules]) => [
        id,
        rules.map(({ rule, requests }) => [rule, requests]),
      ]),
    ).toEqual([
      [
        'g-1',
        [
          ['[EMAIL]', 9],
          ['[PHONE]', 1],
          ['[PROMPT_INJECTION]', 1],
        ],
      ],
      [
        'g-2',
        [
          ['[EMAIL]', 1],
          ['house rules', 1],
        ],
      ],
    ])
    expect((await hits.read(['g-1'], '2026-11-20T06')).get('g-1')).toMatchObject([{ requests: 8 }, { requests: 1 }])
    expect(await hits.read([], '2026-11-20T00')).toEqual(new Map())

    expect(await hits.deleteOlderThan('2026-11-20T06:00:00.000Z', 2)).toBe(2)
    expect(await hits.deleteOlderThan('2026-11-20T06:00:00.000Z', 2)).toBe(1)
    expect((await hits.read(['g-1', 'g-2'], '2026-11-20T00')).get('g-2')).toMatchObject([{ rule: 'house rules', requests: 1 }])
    await database.close()
  })
})
