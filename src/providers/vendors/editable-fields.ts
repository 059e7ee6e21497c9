/**
 * The top-level fields of an outgoing request, for rules that hold whether the request came in the provider's dialect or was translated to
 * it: both are read and changed through this one view.
 */
import type { JsonBody } from '../../lib/json/json-body.ts'
import { rewrittenText } from '../../lib/json/json-rewrite.ts'
import { writeInSteps } from '../../lib/json/json-steps.ts'
import type { JsonChanges, JsonObject, JsonValue } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'

export interface EditableFields {
  /** The names of all fields that are present, including those whose value is null. */
  names(): readonly string[]
  has(name: string): boolean
  /** Undefined if the field is absent or null. */
  value(name: string): Exclude<JsonValue, null> | undefined
  put(name: string, value: JsonValue): void
  /** Keeps the text of the value as it was written. */
  rename(from: string, to: string): void
  remove(name: string): void
  /** The client's own path for the field, as warnings name it. */
  reported(name: string): string
}

export interface FieldsOfBody extends EditableFields {
  /**
   * Returns the changed members as JSON text. Call it once all changes were made. It works in steps, since the text may be megabytes of
   * tools.
   */
  written(): Steps<JsonChanges>
}

/**
 * The fields of a client's own JSON, of which only what changes is written anew. `changes` holds the earlier changes and receives the new
 * ones.
 */
export const fieldsOfBody = (body: JsonBody, changes: Record<string, string | null>): FieldsOfBody => {
  const put = new Map<string, JsonValue>()
  /** Names of fields whose new value has no text yet. */
  const unwritten = new Set<string>()
  return {
    *written() {
      for (const name of unwritten) {
        const [value = null, before, raw] = [put.get(name), body.get(name), body.raw(name)]
        yield
        // Text that the old and the new value share stays as it was written.
        changes[name] = yield* before === undefined || raw === undefined ? writeInSteps(value) : rewrittenText(value, before, raw)
      }
      unwritten.clear()
      return changes
    },
    names() {
      const sent = body.keys.filter((name) => changes[name] !== null)
      for (const name of put.keys()) if (!body.has(name)) sent.push(name)
      return sent
    },
    has: (name) => put.has(name) || (body.has(name) && changes[name] !== null),
    value(name) {
      if (changes[name] === null) return undefined
      return put.has(name) ? (put.get(name) ?? undefined) : body.value(name)
    },
    put(name, value) {
      put.set(name, value)
      unwritten.add(name)
      delete changes[name]
    },
    rename(from, to) {
      const [value, text] = put.has(from) ? [put.get(from), changes[from]] : [body.get(from), body.raw(from)]
      if (value === undefined) return
      this.remove(from)
      put.set(to, value)
      if (typeof text === 'string') changes[to] = text
      else unwritten.add(to)
    },
    remove(name) {
      put.delete(name)
      unwritten.delete(name)
      if (body.has(name)) changes[name] = null
      else delete changes[name]
    },
    reported: (name) => name,
  }
}

/** The fields of a translated request. `paths`: the client's path of each field; a field without one is reported by its own name. */
export const fieldsOfObject = (
  given: JsonObject,
  paths: Readonly<Record<string, string>>,
): EditableFields & { readonly object: JsonObject } => {
  const object: Record<string, JsonValue> = { ...given }
  return {
    object,
    names: () => Object.keys(object),
    has: (name) => Object.hasOwn(object, name),
    value: (name) => (Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined),
    put(name, value) {
      object[name] = value
    },
    rename(from, to) {
      const value = object[from]
      if (value === undefined) return
      delete object[from]
      object[to] = value
    },
    remove(name) {
      delete object[name]
    },
    reported: (name) => paths[name] ?? name,
  }
}
