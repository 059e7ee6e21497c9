/**
 * The top-level fields of a request on its way out, for rules that hold whether the request came in the provider's
 * dialect or was translated to it: either is read and changed through this one view.
 */
import type { JsonBody } from '../lib/json-body.ts'
import { rewrittenText } from '../lib/json-rewrite.ts'
import { writeInSteps } from '../lib/json-steps.ts'
import type { JsonChanges, JsonObject, JsonValue } from '../lib/json.ts'
import type { Steps } from '../lib/steps.ts'

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

export interface FieldsOfBody extends EditableFields {
  /** The text of all that was put, once nothing more is: in steps, since it may be that of megabytes of tools. */
  written(): Steps<JsonChanges>
}

/** A client's own JSON; only what is changed is written anew. `changes` holds what was changed before, and gets the rest. */
export const fieldsOfBody = (body: JsonBody, changes: Record<string, string | null>): FieldsOfBody => {
  const put = new Map<string, JsonValue>()
  /** The names of fields whose new value has no text yet. */
  const unwritten = new Set<string>()
  const removed = (name: string): boolean => Object.hasOwn(changes, name) && changes[name] === null
  return {
    *written() {
      for (const name of unwritten) {
        const [value = null, before, raw] = [put.get(name), body.get(name), body.raw(name)]
        yield
        // Text that the old and the new value share goes on as it was written.
        changes[name] = yield* before === undefined || raw === undefined ? writeInSteps(value) : rewrittenText(value, before, raw)
      }
      unwritten.clear()
      return changes
    },
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
