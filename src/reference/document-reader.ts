/** The OpenAPI document as the page asks for it. */
import type { JsonObject } from '../lib/json.ts'
import { asJsonObject, entriesOf, objectAt, objectsAt, textAt, textsAt } from './read-json.ts'

export interface DocumentReader {
  readonly document: JsonObject
  /** The target of a reference, and its name; the object itself, and null, where it is none. */
  resolve(value: JsonObject): { readonly name: string | null; readonly value: JsonObject }
  readonly schemas: readonly (readonly [string, JsonObject])[]
  readonly groups: readonly OperationGroup[]
}

export interface OperationGroup {
  readonly name: string
  readonly description: string
  readonly operations: readonly OperationEntry[]
}

export interface OperationEntry {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly operation: JsonObject
}

export const readDocument = (document: JsonObject): DocumentReader => {
  const operations = entriesOf(objectAt(document, 'paths')).flatMap(([path, item]) =>
    entriesOf(item)
      .filter(([method]) => METHODS.has(method))
      .map(([method, operation]): OperationEntry => ({
        id: textAt(operation, 'operationId'),
        method: method.toUpperCase(),
        path,
        operation,
      })),
  )
  return {
    document,
    resolve(value) {
      const reference = textAt(value, '$ref')
      if (!reference.startsWith('#/')) return { name: null, value }
      const steps = reference.slice(2).split('/')
      const target = steps.reduce((at: JsonObject, step) => asJsonObject(at[step]), document)
      return { name: steps.at(-1) ?? null, value: target }
    },
    schemas: entriesOf(objectAt(objectAt(document, 'components'), 'schemas')),
    groups: objectsAt(document, 'tags').map((tag) => ({
      name: textAt(tag, 'name'),
      description: textAt(tag, 'description'),
      operations: operations.filter(({ operation }) => textsAt(operation, 'tags')[0] === textAt(tag, 'name')),
    })),
  }
}

const METHODS: ReadonlySet<string> = new Set(['get', 'post', 'patch', 'put', 'delete'])
