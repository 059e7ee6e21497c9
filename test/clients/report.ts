/** The table of a run: a line for each client with a mark for each case, and the reason for each case that did not pass. */
export type Outcome =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'skipped'; readonly why: string }

export interface Result {
  readonly client: string
  readonly way: string
  readonly case: string
  readonly outcome: Outcome
}

export const report = (results: readonly Result[]): string => {
  const groups = Map.groupBy(results, ({ client, way }) => (way === '' ? client : `${client}, ${way}`))
  const lines = [...groups]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([group, own]) => `${group.padEnd(34)} ${countText(own)}`)
  return `\n${[...lines, '', ...reasons(results)].join('\n')}\n`
}

/** A line for each case that did not pass. */
export const reasons = (results: readonly Result[]): readonly string[] =>
  results.flatMap(({ client, way, case: name, outcome }) =>
    outcome.kind === 'passed' ? [] : [`${outcome.kind}: ${[client, way, name].filter((part) => part !== '').join(', ')}: ${outcome.why}`],
  )

const count = (results: readonly Result[], kind: Outcome['kind']): number => results.filter(({ outcome }) => outcome.kind === kind).length

const countText = (results: readonly Result[]): string => {
  const skipped = count(results, 'skipped')
  return `${count(results, 'passed')} passed, ${count(results, 'failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

/** The last line of every run. */
export const closing = countText
