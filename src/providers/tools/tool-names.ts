/**
 * Maps the names of tools on the way to a provider. A client may give its tools names that the provider refuses (too long, or with a `.`),
 * and may keep them in namespaces, which hardly any provider knows. Such a name is sent in a form that the provider takes, always the same
 * for one name, and is mapped back to the client's own name in the answer.
 */
import { createHash } from 'node:crypto'

import type { BuiltInTool } from '../../canonical/built-in-tools.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'

export interface ToolName {
  readonly name: string
  readonly namespace?: string
  /** The client knows the tool by this type and not by a name. */
  readonly builtIn?: BuiltInTool
}

export interface ToolNameRules {
  /** Matches the names that the provider takes; null: any. */
  readonly lawful: RegExp | null
  /** The provider knows namespaces; for any other provider their tools go into one list with the rest. */
  readonly namespaces: boolean
}

export interface ToolNames {
  /** The name to send. A name that is not in the table stays as it is. */
  sent(own: ToolName): ToolName
  /** The client's name for a tool that was sent under this name; null if it is the same, or if the model made it up. */
  restored(sent: ToolName): ToolName | null
}

/** Null if every name can be sent as it is. No two tools are sent under the same name. */
export function* sentNames(own: readonly ToolName[], { lawful, namespaces }: ToolNameRules): Steps<ToolNames | null> {
  const isLawful = (name: string): boolean => lawful === null || lawful.test(name)
  // If namespaces are kept, a namespace is a name of its own.
  const wanted = own.flatMap(({ name, namespace, builtIn }): ToolName[] => {
    if (builtIn !== undefined) return [{ name, builtIn }]
    if (namespace === undefined) return [{ name }]
    return namespaces ? [{ name }, { name: namespace }] : [{ name, namespace }]
  })
  const table = yield* assign(wanted, isLawful)
  if (table.own.size === 0) return null
  const lookUp = (name: string): string => table.sent.get(keyOf({ name })) ?? name
  return {
    sent({ name, namespace, builtIn }) {
      if (builtIn !== undefined) return { name: table.sent.get(keyOf({ name, builtIn })) ?? name }
      if (namespace === undefined) return { name: lookUp(name) }
      if (namespaces) return { name: lookUp(name), namespace: lookUp(namespace) }
      const sent = table.sent.get(keyOf({ name, namespace }))
      return sent === undefined ? { name, namespace } : { name: sent }
    },
    restored({ name, namespace }) {
      const found = table.own.get(name)
      if (namespace === undefined) return found ?? null
      const outer = namespaces ? table.own.get(namespace) : undefined
      return found === undefined && outer === undefined ? null : { name: found?.name ?? name, namespace: outer?.name ?? namespace }
    },
  }
}

interface Table {
  /** By the key of the client's name; holds only names that change. */
  readonly sent: ReadonlyMap<string, string>
  /** By the name that is sent in place of the client's. */
  readonly own: ReadonlyMap<string, ToolName>
}

/** Names that may stay are kept; the others get forms that are still free, in their order. */
function* assign(names: readonly ToolName[], isLawful: (name: string) => boolean): Steps<Table> {
  const isPlain = ({ name, namespace, builtIn }: ToolName): boolean => namespace === undefined && builtIn === undefined && isLawful(name)
  const taken = new Set(names.flatMap((each) => (isPlain(each) ? [each.name] : [])))
  const sent = new Map<string, string>()
  const own = new Map<string, ToolName>()
  yield* mapInSteps(names, (each) => {
    const key = keyOf(each)
    if (isPlain(each) || sent.has(key)) return
    const name = adapted(each, (form) => SAFE.test(form) && isLawful(form) && !taken.has(form))
    taken.add(name)
    sent.set(key, name)
    own.set(name, each)
  })
  return { sent, own }
}

const keyOf = ({ name, namespace, builtIn }: ToolName): string => JSON.stringify([namespace ?? null, name, builtIn ?? null])

/** The first candidate form that is free. */
const adapted = (own: ToolName, isFree: (form: string) => boolean): string => {
  const joined = joinedName(own)
  if ((own.namespace !== undefined || own.builtIn !== undefined) && isFree(joined)) return joined
  const readable = joined.replaceAll(/[^a-zA-Z0-9_-]+/g, '_').replace(/^(?![a-zA-Z_])/, '_')
  for (let attempt = 0; ; attempt += 1) {
    // On the first attempt a dash is kept, for providers that take one.
    const stem = attempt === 0 ? readable : readable.replaceAll('-', '_')
    const form = `${stem.slice(0, LENGTH_MAX - DIGEST_LENGTH - 1)}_${digestOf(own, attempt)}`
    if (isFree(form)) return form
  }
}

/** The form that MCP clients gave such tools before there were namespaces: `mcp__server__tool`. */
const joinedName = ({ name, namespace }: ToolName): string => {
  if (namespace === undefined) return name
  return namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`
}

/** Matches names that every provider takes and that need no escapes in JSON text. */
const SAFE = /^[a-zA-Z_][a-zA-Z0-9_-]{0,62}$/
const LENGTH_MAX = 63
const DIGEST_LENGTH = 8

const digestOf = (own: ToolName, attempt: number): string =>
  createHash('sha256')
    .update(JSON.stringify([own.namespace ?? null, own.name, attempt]))
    .digest('hex')
    .slice(0, DIGEST_LENGTH)
