/** Checks of answers as rows of the form, each with the fields of its type. */
import type { EvaluationRequest } from '../../../api/evaluations.ts'
import { parseSettings } from '../../../playing/settings-fields.ts'
import { readNumber } from '../../../typed-number.ts'

export type Check = EvaluationRequest['checks'][number]

export interface CheckRow {
  readonly id: number
  readonly type: Check['type']
  /** The words to look for, the regular expression, the schema, or the question for the judging model, depending on the type. */
  readonly text: string
  /** The model that judges the answer. */
  readonly model: string
  /** The limit, or the lowest passing score. */
  readonly number: string
  readonly ignoresCase: boolean
}

interface CheckKind {
  readonly title: string
  readonly text?: { readonly label: string; readonly placeholder: string; readonly isLong?: boolean }
  readonly number?: { readonly label: string; readonly start: string }
  readonly hasModel?: boolean
  readonly hasCase?: boolean
}

/** The fields of each type. */
export const CHECK_KINDS: Readonly<Record<Check['type'], CheckKind>> = {
  contains: { title: 'contains', text: { label: 'Text', placeholder: 'what the item expects' }, hasCase: true },
  exact: { title: 'is exactly what is expected', hasCase: true },
  pattern: { title: 'matches a pattern', text: { label: 'Pattern', placeholder: 'order \\d+' } },
  json_schema: { title: 'is JSON of a schema', text: { label: 'Schema', placeholder: '{ "type": "object" }', isLong: true } },
  latency: { title: 'is quick', number: { label: 'Milliseconds at most', start: '5000' } },
  cost: { title: 'is cheap', number: { label: 'Dollars at most', start: '0.01' } },
  judge: {
    title: 'is judged by a model',
    text: { label: 'What makes an answer good', placeholder: 'It is polite and cites the article.', isLong: true },
    number: { label: 'Score of 1 to 5 at least', start: '4' },
    hasModel: true,
  },
  pairwise: {
    title: 'is no worse than the other version',
    text: { label: 'Question to the model', placeholder: 'Which answer serves the user better?', isLong: true },
    hasModel: true,
  },
}

export const newCheck = (rows: readonly CheckRow[], type: Check['type'] = 'contains'): CheckRow => ({
  id: Math.max(0, ...rows.map(({ id }) => id + 1)),
  type,
  text: '',
  model: '',
  number: CHECK_KINDS[type].number?.start ?? '',
  ignoresCase: true,
})

/** The check of the row, or a sentence that says what is wrong with it. */
export const checkOf = ({ type, text, model, number, ignoresCase }: CheckRow): Check | string => {
  const kind = CHECK_KINDS[type]
  const amount = kind.number === undefined ? 0 : readNumber(number)
  if (amount === null) return `${kind.number?.label}: write a number.`
  if (kind.hasModel === true && model.trim() === '') return 'Name the model that judges.'
  switch (type) {
    case 'exact':
      return { type, ignore_case: ignoresCase }
    case 'contains':
      return { type, ignore_case: ignoresCase, ...(text === '' ? {} : { text }) }
    case 'pattern':
      return text === '' ? 'Write the pattern.' : { type, pattern: text }
    case 'json_schema': {
      const read = parseSettings(text)
      return 'fault' in read ? `Schema: ${read.fault}` : { type, schema: read.value }
    }
    case 'latency':
      return { type, max_ms: amount }
    case 'cost':
      return { type, max_usd: amount }
    case 'judge':
      return text === '' ? 'Write what makes an answer good.' : { type, model: model.trim(), rubric: text, min_score: amount }
    case 'pairwise':
      return { type, model: model.trim(), ...(text === '' ? {} : { rubric: text }) }
  }
}
