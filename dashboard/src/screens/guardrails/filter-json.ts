/** The rules of a guardrail as JSON, under the names of the API. */
import { isObject } from '../../loose.ts'
import { readJson } from '../../read-json.ts'
import { BUILTINS, draftOf, FILTER_ACTIONS, FILTER_SIDES, type FilterRow, SCAN_SCOPES } from './filter-rows.ts'

export const filterJson = (rows: readonly FilterRow[]): string => {
  const { content_filter_builtins: builtins, content_filters: patterns } = draftOf(rows)
  return JSON.stringify({ content_filter_builtins: builtins ?? [], content_filters: patterns ?? [] }, null, 2)
}

type ReadRows = { readonly rows: readonly FilterRow[] } | { readonly fault: string }

/** For each list, the members of an entry and their allowed values; null allows any text. */
const MEMBERS: Readonly<Record<string, Readonly<Record<string, readonly string[] | null>>>> = {
  // The placeholder of a built-in rule cannot be chosen, but text that was read from the API contains it.
  content_filter_builtins: { slug: BUILTINS, label: null, action: FILTER_ACTIONS, applies_to: FILTER_SIDES, scan_scope: SCAN_SCOPES },
  content_filters: { pattern: null, label: null, action: FILTER_ACTIONS, applies_to: FILTER_SIDES },
}

const REQUIRED = ['slug', 'pattern', 'action']

/** `before`: the rows that the text was made from. A rule that still exists keeps its row, and so its hits. */
export const readFilterJson = (text: string, before: readonly FilterRow[]): ReadRows => {
  const json = readJson(text)
  if ('fault' in json) return json
  const { value } = json
  if (!isObject(value)) return { fault: 'Write an object with content_filter_builtins and content_filters.' }
  const entries: Entry[] = []
  for (const [list, given] of Object.entries(value)) {
    const members = Object.hasOwn(MEMBERS, list) ? MEMBERS[list] : undefined
    if (members === undefined) return { fault: `There is no member ${list}: use ${Object.keys(MEMBERS).join(' and ')}.` }
    if (given === null) continue
    if (!Array.isArray(given)) return { fault: `${list} is no list.` }
    for (const [index, entry] of given.entries()) {
      const wrong = isObject(entry) ? faultIn(entry, members) : 'it is no object'
      if (wrong !== null) return { fault: `${list}[${index}]: ${wrong}.` }
      entries.push(entry as Entry)
    }
  }
  return { rows: withIds(entries, before) }
}

type Entry = Readonly<Partial<Record<'slug' | 'pattern' | 'label' | 'action' | 'applies_to' | 'scan_scope', string | null>>>

const faultIn = (entry: Readonly<Record<string, unknown>>, members: Readonly<Record<string, readonly string[] | null>>): string | null => {
  const missing = REQUIRED.find((name) => Object.hasOwn(members, name) && (entry[name] ?? '') === '')
  if (missing !== undefined) return `its ${missing} is missing`
  for (const [name, value] of Object.entries(entry)) {
    const known = Object.hasOwn(members, name) ? members[name] : undefined
    if (known === undefined) return `there is no member ${name}`
    if (name === 'label' && value === null) continue
    if (typeof value !== 'string') return `${name} is no text`
    if (known !== null && !known.includes(value)) return `${name} is one of ${known.join(', ')}`
  }
  return null
}

const FIRST_NEW_ID = 2000

const withIds = (entries: readonly Entry[], before: readonly FilterRow[]): readonly FilterRow[] => {
  const left = [...before]
  let next = Math.max(FIRST_NEW_ID, ...before.map(({ id }) => id + 1))
  return entries.map((entry) => {
    const row = {
      slug: BUILTINS.find((slug) => slug === entry.slug) ?? null,
      pattern: entry.pattern ?? '',
      label: entry.slug === undefined ? (entry.label ?? '') : '',
      action: FILTER_ACTIONS.find((action) => action === entry.action) ?? 'block',
      side: FILTER_SIDES.find((side) => side === entry.applies_to) ?? 'both',
      scanScope: SCAN_SCOPES.find((scope) => scope === entry.scan_scope),
    }
    const same = left.findIndex(({ slug, pattern, label }) => slug === row.slug && pattern === row.pattern && label === row.label)
    const kept = same === -1 ? undefined : left.splice(same, 1)[0]
    return { id: kept?.id ?? next++, ...row }
  })
}
