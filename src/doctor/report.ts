/** Renders the findings of the checks, for a person or for a program. */
import { dollars } from '../lib/money.ts'
import type { Finding } from './ask-provider.ts'
import { TOO_DEAR, type Question } from './live-plan.ts'
import { PROBES } from './probe-bodies.ts'
import type { Check } from './setup-checks.ts'

const STATES: Readonly<Record<Check['state'], string>> = { fine: 'fine ', note: 'note ', wrong: 'WRONG' }

export const checkLine = ({ name, state, says }: Check): string => `${STATES[state]}  ${name}: ${says}`

/** Printed before anything is asked. */
export const costLine = (questions: readonly Question[], boundNanos: number): string => {
  const asked = questions.filter(({ passedOver }) => passedOver === null)
  const mostNanos = asked.reduce((sum, { mostNanos: most }) => sum + most, 0)
  const tooDear = questions.filter(({ passedOver }) => passedOver === TOO_DEAR).length
  const more = tooDear === 0 ? '' : ` ${tooDear} more do not fit that bound: raise it, or name models with --model.`
  return `${asked.length} requests to providers, at most $${dollars(mostNanos)} in all (--max-cost-usd ${dollars(boundNanos)}).${more}`
}

export const progressLine = ({ question, outcome, says }: Finding): string =>
  `${nameOf(question)} ${question.probe}: ${outcome}${says === null ? '' : ` (${says})`}`

const CELLS: Readonly<Record<Finding['outcome'], string>> = {
  answered: 'ok',
  odd: 'odd',
  refused: 'REFUSED',
  failed: 'FAILED',
  unasked: '-',
}

const cellOf = (finding: Finding | undefined): string =>
  finding?.question.passedOver === TOO_DEAR ? 'too dear' : CELLS[finding?.outcome ?? 'unasked']

/** A row for each model of each provider and dialect, a column for each question, and the reasons below. */
export const findingsTable = (findings: readonly Finding[]): string => {
  const rows = new Map<string, Finding[]>()
  for (const finding of findings) rows.set(nameOf(finding.question), [...(rows.get(nameOf(finding.question)) ?? []), finding])
  const width = Math.max(0, ...[...rows.keys()].map((name) => name.length))
  const line = (name: string, cells: readonly string[]): string =>
    [name.padEnd(width), ...cells.map((cell) => cell.padEnd(9))].join('  ').trimEnd()
  const table = [
    line('', PROBES),
    ...[...rows].map(([name, own]) =>
      line(
        name,
        PROBES.map((probe) => cellOf(own.find(({ question }) => question.probe === probe))),
      ),
    ),
  ]
  const reasons = findings.flatMap((finding) => {
    const { question, outcome, says, rule } = finding
    if (outcome === 'answered' || outcome === 'unasked') return []
    return [`${nameOf(question)} ${question.probe}: ${says ?? outcome}`, ...(rule === null ? [] : [`    rule of Patchbay: ${rule}`])]
  })
  const spent = findings.reduce((sum, { costNanos }) => sum + costNanos, 0)
  return [...table, ...(reasons.length === 0 ? [] : ['', ...reasons]), '', `spent about $${dollars(spent)}`].join('\n')
}

export const findingJson = ({ question, outcome, says, rule, costNanos, files }: Finding) => ({
  provider: question.endpoint.provider.slug,
  model: question.model.id,
  upstream_model: question.endpoint.upstreamModel,
  dialect: question.dialect,
  question: question.probe,
  outcome,
  says,
  rule,
  cost_usd: dollars(costNanos),
  files,
})

const nameOf = ({ model, endpoint, dialect }: Question): string => `${endpoint.provider.slug} ${model.id} (${dialect})`
