/**
 * Assembles the arguments of one function call that come in pieces (`partialArgs`): each piece names a place by its JSON path and gives a
 * value, or more of a string that was begun there. Source: Vertex AI, "Stream function call arguments".
 */
import { isObject } from '../../lib/json/json.ts'

type Json = Readonly<Record<string, unknown>>

export interface StreamedArguments {
  /** Returns false for pieces that cannot be placed; the arguments are then unusable. */
  add(pieces: unknown): boolean
  /** JSON text of what was assembled so far. */
  json(): string
}

/** How far past the end of a list an index may be, so that a hostile index cannot make a large list. */
const HOLES_MAX = 100
const STEPS_MAX = 64

export const createStreamedArguments = (): StreamedArguments => {
  const root = emptyObject()
  /** The path of the string that continues in the next piece. */
  let open: string | null = null

  const add = (piece: unknown): boolean => {
    if (!isObject(piece) || typeof piece['jsonPath'] !== 'string') return false
    const path = piece['jsonPath']
    const steps = stepsOf(path)
    const value = valueOf(piece)
    if (steps === null || value === undefined) return false
    const placed = place(root, steps, (before) =>
      open === path && typeof before === 'string' && typeof value === 'string' ? before + value : value,
    )
    open = piece['willContinue'] === true ? path : null
    return placed
  }

  return {
    add: (pieces) => !Array.isArray(pieces) || pieces.every(add),
    json: () => JSON.stringify(root),
  }
}

type Container = Record<string, unknown> | unknown[]
type Step = string | number

/** Has no prototype, so that every name is an ordinary member. */
const emptyObject = (): Record<string, unknown> => Object.create(null) as Record<string, unknown>

const place = (root: Container, steps: readonly Step[], change: (before: unknown) => unknown): boolean => {
  let at: Container = root
  for (const [position, step] of steps.entries()) {
    if (Array.isArray(at) !== (typeof step === 'number')) return false
    if (Array.isArray(at) && typeof step === 'number') {
      if (step > at.length + HOLES_MAX) return false
      while (at.length < step) at.push(null)
    }
    const holder = at as Record<Step, unknown>
    const next = steps[position + 1]
    if (next === undefined) {
      holder[step] = change(holder[step])
      return true
    }
    const inside = (holder[step] ??= typeof next === 'number' ? [] : emptyObject())
    if (typeof inside !== 'object') return false
    at = inside as Container
  }
  return false
}

/** Parses `$.items[0].name` and `$['a name']`; null for anything else, including the root, since arguments are always an object. */
const stepsOf = (path: string): Step[] | null => {
  if (!path.startsWith('$')) return null
  const steps: Step[] = []
  STEP.lastIndex = 1
  while (STEP.lastIndex < path.length) {
    const found: RegExpExecArray | null = steps.length < STEPS_MAX ? STEP.exec(path) : null
    if (found === null) return null
    const [, plain, index, quoted, doubled] = found
    steps.push(index === undefined ? (plain ?? (quoted ?? doubled ?? '').replaceAll(/\\(.)/g, '$1')) : Number(index))
  }
  return steps.length === 0 ? null : steps
}

const STEP = /\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y

/** Undefined for a piece without a value. */
const valueOf = ({ stringValue, numberValue, boolValue, nullValue }: Json): unknown => {
  if (typeof stringValue === 'string') return stringValue
  if (numberValue !== undefined) return numberValue
  if (typeof boolValue === 'boolean') return boolValue
  return nullValue === undefined ? undefined : null
}
