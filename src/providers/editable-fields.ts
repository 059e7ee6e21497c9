/**
 * The top-level fields of a request on its way out, for rules that hold whether the request came in the provider's
 * dialect or was translated to it: either is read and changed through this one view.
 */
import type { JsonBody } from '../lib/json-body.ts'
import { rewrittenText } from '../lib/json-rewrite.ts'
import { atOnce } from '../lib/steps.ts'
import type { JsonObject, JsonValue, JsonChanges } from '../lib/json.ts'

export interface EditableFields {
  /** The names of all fields that are there, also with null for a value. */
  names(): readonly string[]
  has(name: string): boolean
  /** Undefined where the field is absent or null. */
  value(name: string): Exclude<JsonValue, null> | undefined
  put(name: string, value: JsonValue): void
  /** The value goes on as it was written. */
  rename(from: string, to: string): void
  remove(name: string): void
  /** Where the client wrote it: what warnings name. */
  reported(name: string): string
}

/** A client's own JSON; only what is changed is written anew. `changes` holds what was changed before, and gets the rest. */
export const fieldsOfBody = (
  body: JsonBody,
  changes: Record<string, string | null>,
): EditableFields & { readonly changes: JsonChanges } => {
  const put = new Map<string, JsonValue>()
  const removed = (name: string): boolean => Object.hasOwn(changes, name) && changes[name] === null
  return {
    changes,
    names() {
      const sent = body.keys.filter((name) => !removed(name))
      for (const name of put.keys()) if (!body.has(name)) sent.push(name)
      return sent
    },
    has: (name) => put.has(name) || (body.has(name) && !removed(name)),
    value(name) {
      if (removed(name)) return undefined
      return put.has(name) ? (put.get(name) ?? undefined) : body.value(name)
    },
    put(name, value) {
      const [before, raw] = [body.get(name), body.raw(name)]
      put.set(name, value)
      // Text that the old and the new value share goes on as it was written.
      changes[name] = before === undefined || raw === undefined ? JSON.stringify(value) : atOnce(rewrittenText(value, before, raw))
    },
    rename(from, to) {
      const raw = put.has(from) ? JSON.stringify(put.get(from)) : body.raw(from)
      const value = put.has(from) ? put.get(from) : body.get(from)
      if (raw === undefined || value === undefined) return
      this.remove(from)
      put.set(to, value)
      changes[to] = raw
    },
    remove(name) {
      put.delete(name)
      if (body.has(name)) changes[name] = null
      else delete changes[name]
    },
    reported: (name) => name,
  }
}

/** The translated fields. `paths`: the client's path of each field; its own name where there is none. */
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
