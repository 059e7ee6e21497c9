/** Takes vendors' own names of locked settings out of a request (docs/contract/presets.md#merge). */
import type { JsonBody } from '../lib/json/json-body.ts'
import type { JsonChanges } from '../lib/json/json.ts'
import type { Steps } from '../lib/steps.ts'
import { type FoundWord, withoutPaths } from '../request-fields/vendor-words.ts'

interface HeldWords {
  readonly changes: JsonChanges
  readonly paths: readonly string[]
}

/** `held`: the locked settings and fields; `systemPrompt` for a preset that has one. */
export function* holdVendorWords(body: JsonBody, words: readonly FoundWord[], held: ReadonlySet<string>): Steps<HeldWords> {
  const all = words.filter(({ changes, bends }) => !held.isDisjointFrom(changes) || !held.isDisjointFrom(bends))
  // A word inside one that goes as a whole goes with it.
  const locked = all.filter(
    ({ path }) => !all.some((other) => other.path.length < path.length && other.path.every((step, at) => step === path[at])),
  )
  const changes: Record<string, string | null> = {}
  for (const [field, group] of Map.groupBy(locked, ({ path: [first] }) => first)) {
    const rest = withoutPaths(
      yield* body.parsing(field),
      group.map(({ path: [, ...inside] }) => inside),
    )
    changes[field] = rest === null ? null : JSON.stringify(rest)
    yield
  }
  return { changes, paths: locked.map(({ path }) => path.join('.')) }
}
