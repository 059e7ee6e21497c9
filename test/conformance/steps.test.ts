/**
 * No body, accepted or refused, blocks the process for long, whatever it contains. A step is compared with a known amount of work in the
 * same run, which takes three to four milliseconds on a machine of 2024.
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { GatewayError } from '../../src/errors.ts'
import type { ClientFormat } from '../../src/formats/format.ts'
import { FORMATS } from '../../src/formats/formats.ts'
import { JsonBody } from '../../src/lib/json/json-body.ts'
import { JSON_LIMITS, JsonTextError } from '../../src/lib/json/json-limits.ts'
import { atOnce } from '../../src/lib/steps.ts'

/** The most characters in a body. */
const BODY_MAX = 19_000_000

/** The text of a value that is repeated until the body reaches its largest size, or exceeds a limit. */
const unit = fc.oneof(
  fc.constantFrom(
    '12345678901234567',
    '1',
    '[]',
    '{}',
    '{"type":"text","text":"a"}',
    '{"role":"user","content":"a"}',
    '{"role":"user","content":[{"type":"text","text":"a"}]}',
    '{"role":"tool","tool_call_id":"a","content":"b"}',
    '{"type":"tool_result","tool_use_id":"a","content":"b"}',
    '"\\\\\\\\\\\\\\\\"',
    '"\\u0061\\u0062"',
    `"${'lorem ipsum '.repeat(1000)}"`,
    ' '.repeat(30) + '1',
    '\n'.repeat(5000) + '1',
    '{"a":1,"a":2}',
  ),
  fc.json({ maxDepth: 3 }),
)
const count = fc.constantFrom(10_000, 31_000, 49_000, 190_000, 400_000)
const holder = fc.constantFrom<(list: string) => string>(
  (list) => `{"model":"m","messages":[${list}],"max_tokens":9}`,
  (list) => `{"model":"m","messages":[{"role":"user","content":[${list}]}],"input":[${list}]}`,
  (list) => `{"model":"m","messages":[{"role":"user","content":"a"}],"input":"a","x":[${list}],"tools":[${list}]}`,
  (list) => `{"model":"m","messages":[{"role":"user","content":"a"}],"input":"a","x":{${membersOf(list)}}}`,
  (list) => `{"model":"m",${membersOf(list)}}`,
)

function membersOf(list: string): string {
  let number = 0
  return `"k":${list.slice(0, BODY_MAX / 2).replaceAll(/,(?=[{["\d\s])/g, () => `,"k${(number += 1)}":`)}`
}

/** Measures processor time, so that other programs on the machine do not matter. */
const microseconds = (work: () => void): number => {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** A known amount of work for comparison: parsing 2.5 MB of JSON. */
const KNOWN = `[${'{"role":"user","content":"How are you?"},'.repeat(60_000)}0]`
const known = (): number => microseconds(() => void JSON.parse(KNOWN))

/** The steps of a request, as `answerInference` takes them. */
const stepsOf = (bytes: Uint8Array, format: ClientFormat): readonly number[] => {
  const steps: number[] = []
  let body: JsonBody | null = null
  const step = (work: () => void): boolean => {
    let refused = false
    steps.push(
      microseconds(() => {
        try {
          work()
        } catch (thrown) {
          if (!(thrown instanceof JsonTextError) && !(thrown instanceof GatewayError)) throw thrown
          refused = true
        }
      }),
    )
    return !refused
  }
  if (!step(() => void (body = JsonBody.ofBytes(bytes, JSON_LIMITS))) || body === null) return steps
  const read: JsonBody = body
  let prompt = (): unknown => null
  if (step(() => void ({ prompt } = atOnce(format.parseCall(read)).call))) step(() => void prompt())
  return steps
}

test('each step with a hostile body takes no more than twelve times as long as to parse 2.5 MB of JSON', () => {
  known()
  fc.assert(
    fc.property(unit, count, holder, fc.constantFrom<ClientDialect>('chat', 'responses', 'messages'), (one, times, hold, dialect) => {
      const fitting = Math.min(times, Math.floor(BODY_MAX / 2 / (one.length + 1)))
      const bytes = Buffer.from(hold(Array.from({ length: fitting }, () => one).join(',')))
      // The first run of a step includes compilation, and garbage is collected at any time, so the best run counts, and the slower one of
      // the known work.
      const runs = [0, 1, 2, 3].map(() => stepsOf(bytes, FORMATS[dialect]))
      const limit = 12 * Math.max(known(), known())
      for (const at of (runs[0] ?? []).keys()) expect(Math.min(...runs.map((steps) => steps[at] ?? 0))).toBeLessThan(limit)
    }),
    { numRuns: 40, endOnFailure: true },
  )
}, 300_000)
