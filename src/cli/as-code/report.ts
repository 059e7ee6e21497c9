/** The output of the commands for each object, and for each field that differs. */
import { relative } from 'node:path'

import type { JsonValue } from '../../lib/json/json.ts'
import type { Compared } from './compare.ts'
import { differences, merge, type FieldDifference } from './document.ts'

export const nameOf = ({ kind, identity, local, remote }: Pick<Compared, 'kind' | 'identity' | 'local' | 'remote'>): string => {
  const name = (local?.document ?? remote?.document)?.['name']
  return `${kind.name.slice(0, -1)} ${kind.name === 'keys' && typeof name === 'string' ? name : identity}`
}

/** A heading, and below it the service's value (-) and the file's value (+). */
export const comparedLines = (compared: Compared, directory: string): readonly string[] => {
  const { local, remote, base } = compared
  const at = local === undefined ? '' : ` (${relative(directory, local.path)})`
  const fields = local === undefined || remote === undefined ? [] : differences(remote.document, local.document)
  return [`${headingOf(compared)}: ${nameOf(compared)}${at}`, ...fields.flatMap(fieldLines), ...clashLines(compared, base)]
}

const headingOf = ({ standing, local, remote }: Compared): string => {
  if (standing === 'conflict') return 'changed on both sides'
  const [changed, other, place] = standing === 'edited' ? [local, remote, 'here'] : [remote, local, 'on the service']
  if (changed === undefined) return `deleted ${place}`
  return other === undefined ? `new ${place}` : `changed ${place}`
}

const clashLines = ({ standing, local, remote }: Compared, base: Compared['base']): readonly string[] => {
  if (standing !== 'conflict' || local === undefined || remote === undefined || base === null) return []
  const outcome = merge(base, local.document, remote.document)
  return 'clashes' in outcome
    ? [`  both changed ${outcome.clashes.join(', ')}`]
    : ['  no field was changed on both sides: "pull" joins the changes']
}

const fieldLines = ({ field, before, after }: FieldDifference): readonly string[] => {
  const old = linesOf(before)
  const now = linesOf(after)
  const isSameAt = (at: number, fromEnd: boolean): boolean => (fromEnd ? old.at(-1 - at) === now.at(-1 - at) : old[at] === now[at])
  const least = Math.min(old.length, now.length)
  let head = 0
  while (head < least && isSameAt(head, false)) head += 1
  let tail = 0
  while (tail < least - head && isSameAt(tail, true)) tail += 1
  const changed = (lines: readonly string[], sign: string): string[] =>
    lines.slice(head, lines.length - tail).map((line) => `    ${sign} ${line}`)
  return [`  ${field}${head > 0 ? `, from line ${head + 1}` : ''}`, ...changed(old, '-'), ...changed(now, '+')]
}

const linesOf = (value: JsonValue | undefined): readonly string[] => {
  if (value === undefined) return []
  return (typeof value === 'string' ? value : JSON.stringify(value, null, typeof value === 'object' ? 2 : 0)).split('\n')
}
