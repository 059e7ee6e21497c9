/** Checks an answer without asking a model. */
import type { Check } from '../../contract/evaluation.ts'
import { canonicalJson, createSchemaCheck } from '../../lib/json/json-schema.ts'
import { jsonIn, type JsonValue } from '../../lib/json/json.ts'
import { dollars } from '../../lib/money.ts'
import { knownRegex } from '../../lib/regex/known-regex.ts'
import { matches } from '../../lib/regex/matches.ts'
import type { KeptAnswer } from '../../storage/presets/evaluation-items.ts'
import type { ItemRequest } from './item-request.ts'

export interface Verdict {
  readonly passed: boolean
  readonly score: number | null
  readonly reason: string | null
}

export type PlainCheck = Exclude<Check, { type: 'judge' | 'pairwise' }>

export const checkAnswer = (check: PlainCheck, { expected }: Pick<ItemRequest, 'expected'>, answer: KeptAnswer): Verdict => {
  switch (check.type) {
    case 'exact':
      return verdict(isExact(answer.text, expected, check.ignore_case), 'The answer is not what is expected.')
    case 'contains': {
      const wanted = check.text ?? (typeof expected === 'string' ? expected : null)
      if (wanted === null) return verdict(false, 'The item expects no text that an answer could contain.')
      return verdict(folded(answer.text, check.ignore_case).includes(folded(wanted, check.ignore_case)), 'The answer does not contain it.')
    }
    case 'pattern':
      return verdict(matches(knownRegex(check.pattern), answer.text), 'The answer does not match.')
    case 'json_schema':
      return bySchema(check.schema, answer.text)
    case 'cost':
      return verdict(dollars(answer.costNanos) <= check.max_usd, `It cost $${dollars(answer.costNanos)}.`)
    case 'latency':
      return verdict(answer.totalMs <= check.max_ms, `It took ${Math.round(answer.totalMs)} ms.`)
  }
}

const verdict = (passed: boolean, reason: string): Verdict => ({ passed, score: null, reason: passed ? null : reason })

const folded = (text: string, ignoreCase: boolean): string => (ignoreCase ? text.toLowerCase() : text)

/** Text is compared without surrounding white space, JSON by its value. */
const isExact = (text: string, expected: JsonValue, ignoreCase: boolean): boolean => {
  if (typeof expected === 'string') return folded(text.trim(), ignoreCase) === folded(expected.trim(), ignoreCase)
  const value = jsonIn(text)
  return value !== undefined && canonicalJson(value) === canonicalJson(expected)
}

const bySchema = (schema: Readonly<Record<string, unknown>>, text: string): Verdict => {
  const value = jsonIn(text)
  if (value === undefined) return verdict(false, 'The answer is no JSON.')
  const [fault] = createSchemaCheck(schema)(value).faults
  return verdict(fault === undefined, `${fault?.path ?? '$'}: ${fault?.message ?? ''}`)
}
