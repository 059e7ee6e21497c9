/** The output of a price import: a line for each change, a line for each refused line, and a summary. */
import type { CatalogueChange, FactChange } from '../models/catalogue-changes.ts'
import type { PriceList, RefusedLine } from '../models/price-lists/read-price-list.ts'

export const changeLine = ({ kind, model, provider, facts }: CatalogueChange, isBeaten: boolean): string =>
  `${kind.padEnd(8)} ${model} at ${provider}${kind === 'gone' ? '' : `: ${facts.map((fact) => factText(fact, kind)).join(', ')}`}${isBeaten ? ' (your own file has this model, and wins)' : ''}`

const factText = ({ fact, before, after }: FactChange, kind: CatalogueChange['kind']): string => {
  const unit = /context_length|max_completion_tokens/.test(fact) ? '' : '$'
  const text = (value: string | undefined): string => (value === undefined ? 'none' : unit + value)
  return kind === 'new' ? `${fact} ${text(after)}` : `${fact} ${text(before)} → ${text(after)}`
}

export const refusedLine = ({ place, reason }: RefusedLine): string => `refused  ${place}: ${reason}`

const SHOWN_NAMES = 10

export const unknownLine = (providers: ReadonlyMap<string, number>): string => {
  const names = [...providers].sort(([, a], [, b]) => b - a).map(([name, models]) => `${name} (${models})`)
  const more = names.length > SHOWN_NAMES ? ` and ${names.length - SHOWN_NAMES} more` : ''
  return `left out models of providers that no configuration names: ${names.slice(0, SHOWN_NAMES).join(', ')}${more}`
}

export const summaryLine = (list: PriceList, changes: readonly CatalogueChange[], asOf: string, isDryRun: boolean): string => {
  const count = (kind: CatalogueChange['kind']): number => changes.filter((change) => change.kind === kind).length
  const sum = `${list.kind} of ${asOf}: ${count('new')} new, ${count('changed')} changed, ${count('gone')} gone, ${list.refused.length} refused`
  return isDryRun ? `${sum}; a dry run: nothing was kept` : `${sum}; prices are US dollars a million tokens`
}
