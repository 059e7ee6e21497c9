/** Queries on the OpenAPI document for the page. */
import { type JsonObject, type JsonValue, membersOf } from '../lib/json/json.ts'
import { entriesOf, objectAt, objectsAt, textAt, textsAt } from './read-json.ts'

export interface DocumentReader {
  readonly document: JsonObject
  /** Returns the target of a reference and its name; an object that is no reference is returned itself, with the name null. */
  resolve(value: JsonObject): { readonly name: string | null; readonly value: JsonObject }
  readonly schemas: readonly (readonly [string, JsonObject])[]
  /** Names of the schemas that are used only once, as the whole body of an operation; they are described there. */
  readonly bodySchemas: ReadonlySet<string>
  /** Names of the schemas that occur only in answers, so that clients need not send their fields. */
  readonly answerSchemas: ReadonlySet<string>
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
  const schemas = entriesOf(objectAt(objectAt(document, 'components'), 'schemas'))
  const references = referencesIn(document)
  const isUsedOnce = (reference: string): boolean => references.indexOf(reference) === references.lastIndexOf(reference)
  const bodies = operations.map(({ operation }) => textAt(bodySchema(operation), '$ref')).filter((reference) => reference !== '')
  const sent = reachable(
    operations.flatMap(({ operation }) =>
      referencesIn({ body: objectAt(operation, 'requestBody'), parameters: operation['parameters'] ?? [] }),
    ),
    new Map(schemas.map(([name, schema]) => [SCHEMAS + name, referencesIn(schema)])),
  )
  return {
    document,
    resolve(value) {
      const reference = textAt(value, '$ref')
      if (!reference.startsWith('#/')) return { name: null, value }
      const steps = reference.slice(2).split('/')
      const target = steps.reduce((at: JsonObject, step) => membersOf(at[step]), document)
      return { name: steps.at(-1) ?? null, value: target }
    },
    schemas,
    bodySchemas: new Set(bodies.filter(isUsedOnce).map((reference) => reference.slice(SCHEMAS.length))),
    answerSchemas: new Set(schemas.map(([name]) => name).filter((name) => !sent.has(SCHEMAS + name))),
    groups: objectsAt(document, 'tags').map((tag) => ({
      name: textAt(tag, 'name'),
      description: textAt(tag, 'description'),
      operations: operations.filter(({ operation }) => textsAt(operation, 'tags')[0] === textAt(tag, 'name')),
    })),
  }
}

const SCHEMAS = '#/components/schemas/'

export const bodySchema = (operation: JsonObject): JsonObject =>
  objectAt(objectAt(objectAt(objectAt(operation, 'requestBody'), 'content'), 'application/json'), 'schema')

/** All references in a value, including repetitions. */
const referencesIn = (value: JsonValue): readonly string[] => {
  if (typeof value !== 'object' || value === null) return []
  const own = Array.isArray(value) ? '' : textAt(membersOf(value), '$ref')
  return [...(own === '' ? [] : [own]), ...Object.values(value).flatMap(referencesIn)]
}

/** The references themselves, and all references reachable from their schemas. */
const reachable = (first: readonly string[], next: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> => {
  const found = new Set(first)
  for (const reference of found) for (const further of next.get(reference) ?? []) found.add(further)
  return found
}

const METHODS: ReadonlySet<string> = new Set(['get', 'post', 'patch', 'put', 'delete'])
