/** Guardrails as files. Their assignments stay with the service: keys and members belong to it. */
import { z } from 'zod'

import { SettingError } from '../../config.ts'
import { inSentences } from '../../contract/issue-sentence.ts'
import { createGuardrailBody, guardrail, updateGuardrailBody } from '../../contract/guardrail.ts'
import { storedText } from '../../contract/stored-text.ts'
import { isList, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { compilePatterns } from '../../lib/regex/known-regex.ts'
import { atOnce } from '../../lib/steps.ts'
import type { Document } from './document.ts'
import type { Kind } from './kind.ts'

/** A name from before names were one line is read too (decisions/0243); the service decides whether a new one fits. */
const fileSchema = createGuardrailBody.omit({ workspace_id: true }).extend({ name: storedText.min(1) })

/** The service compiles patterns after its schema check, in steps. */
const readSchema = fileSchema.superRefine(({ content_filters }, context) => {
  for (const [index, reason] of atOnce(compilePatterns((content_filters ?? []).map(({ pattern }) => pattern)))) {
    context.addIssue({ code: 'custom', path: ['content_filters', index, 'pattern'], message: `invalid_regex_pattern: ${reason}` })
  }
})

export const guardrailKind: Kind = {
  name: 'guardrails',
  schema: fileSchema,
  folder: 'guardrails',
  fileName: ({ identity }) => plainName(identity),
  async list(remote) {
    const objects = z
      .array(guardrail)
      .parse(await remote.list('/guardrails'))
      .map((found) => {
        const { id, workspace_id: _w, created_at: _c, updated_at: _u, ...settings } = found
        return { identity: found.name, id, document: documentOf(settings) }
      })
    const names = objects.map(({ identity }) => identity)
    const twice = names.find((name, at) => names.indexOf(name) !== at)
    if (twice !== undefined)
      throw new SettingError(`two guardrails are called ${JSON.stringify(twice)}: files know them by their names, so rename one.`)
    return objects
  },
  read(value) {
    const file = readSchema.parse(value, inSentences)
    return { identity: file.name, document: documentOf(file) }
  },
  async write(remote, document, current) {
    if (current === null) return void (await remote.ask('POST', '/guardrails', { body: document }))
    const isFollowing = (name: string): boolean => FAMILY.test(name) && Object.hasOwn(document, WHOLE)
    const absent = Object.keys(updateGuardrailBody.shape).filter((name) => !Object.hasOwn(document, name) && !isFollowing(name))
    const cleared = absent.map((name) => [name, name === 'include_byok_in_budgets' ? false : null])
    // Files know a guardrail by its name, so that stays.
    const { name: _, ...settings } = document
    await remote.ask('PATCH', `/guardrails/${encodeURIComponent(current.id)}`, { body: { ...Object.fromEntries(cleared), ...settings } })
  },
  async remove(remote, { id }) {
    await remote.ask('DELETE', `/guardrails/${encodeURIComponent(id)}`)
  },
}

/** Turns a name for people into a file name. */
export const plainName = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 80) || 'unnamed'

/** Members without information are left out, inside filters too: the service fills them in where they are absent. */
const documentOf = (settings: object): Document => {
  const { name, ...others } = compact(JSON.parse(JSON.stringify(settings)) as JsonObject)
  const sorted = Object.entries(others).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return { name: name ?? '', ...Object.fromEntries(sorted) }
}

/** The flag for all model families, which the service copies into each family's flag. */
const WHOLE = 'enforce_zdr'
const FAMILY = /^enforce_zdr_/

const compact = (settings: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) => {
      if (value === null || (name === 'include_byok_in_budgets' && value === false)) return []
      if (FAMILY.test(name) && value === settings[WHOLE]) return []
      return [[name, isList(value) ? value.map((item) => compactFilter(name, item)) : value]]
    }),
  )

/** The one built-in filter with a default side of its own. */
const OWN_SIDE = { slug: 'regex-prompt-injection', side: 'input' }

const compactFilter = (list: string, item: JsonValue): JsonValue => {
  if (typeof item !== 'object' || item === null || isList(item)) return item
  const { label, applies_to: side, action, ...others } = item
  return {
    ...others,
    ...(action === undefined ? {} : { action }),
    // The label of a built-in filter belongs to the service.
    ...(label == null || list === 'content_filter_builtins' ? {} : { label }),
    ...(side === undefined || side === (others['slug'] === OWN_SIDE.slug ? OWN_SIDE.side : 'both') ? {} : { applies_to: side }),
  }
}
