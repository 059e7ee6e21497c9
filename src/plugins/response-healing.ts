/**
 * `response-healing`: repairs requested JSON with the faults that models usually make: fences and text around it, and missing or
 * superfluous commas, quotes or brackets. Values are never invented, and valid JSON stays as written.
 */
import { isObject, jsonIn } from '../lib/json/json.ts'

/** The type of the requested JSON, if its schema says so. */
export type Expected = 'object' | 'array' | null

/** Returns the healed text, or the same text if it needs no healing or cannot be healed. */
export type Heal = (text: string) => string

/** Longer texts are left unchanged, so that one answer does not delay the others. */
const LENGTH_MAX = 256 * 1024

/** Loads the repair library on first use. */
export const loadHeal = async (expected: Expected): Promise<Heal> => {
  const { jsonrepair, JSONRepairError } = await import('jsonrepair')
  const repaired = (text: string): string | null => {
    try {
      return jsonrepair(text)
    } catch (thrown) {
      // The text cannot be repaired, or it is nested too deeply for the stack.
      if (thrown instanceof JSONRepairError || thrown instanceof RangeError) return null
      throw thrown
    }
  }
  return (text) => {
    if (text.length > LENGTH_MAX || isJson(text, null)) return text
    const found = extracted(text, expected)
    if (found === null) return text
    if (isJson(found, expected)) return found
    const mended = repaired(found)
    return mended !== null && isJson(mended, expected) ? mended : text
  }
}

/** Returns the type that the schema states, if it is an object or an array. */
export const expectedBy = (schema: unknown): Expected => {
  const type = typeof schema === 'object' && schema !== null ? (schema as Readonly<Record<string, unknown>>)['type'] : undefined
  return type === 'array' || type === 'object' ? type : null
}

const isJson = (text: string, expected: Expected): boolean => {
  const value = jsonIn(text)
  if (value === undefined || expected === null) return value !== undefined
  return expected === 'array' ? Array.isArray(value) : isObject(value)
}

/**
 * Returns the JSON in the text: the content of a fence, or from the first bracket to its closing one, or to the end. Null if there
 * is none.
 */
const extracted = (text: string, expected: Expected): string | null => {
  const within = fenced(text) ?? text
  const start = firstBracket(within, expected)
  return start < 0 ? null : balanced(within.slice(start)).trim()
}

/** Returns the content of a fence, whose end may be missing; a fence inside the JSON's own strings does not count. */
const fenced = (text: string): string | null => {
  const open = /^[^{[]*?```[a-z0-9]*[ \t]*\r?\n?/i.exec(text)
  if (open === null) return null
  const within = text.slice(open[0].length)
  const close = within.lastIndexOf('```')
  return close < 0 ? within : within.slice(0, close)
}

const firstBracket = (text: string, expected: Expected): number => {
  if (expected === 'object') return text.indexOf('{')
  return expected === 'array' ? text.indexOf('[') : text.search(/[{[]/)
}

/** Returns the text up to the bracket that closes the first one; all of it if there is none, or if a string does not end. */
const balanced = (text: string): string => {
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (inString) {
      if (character === '\\') at += 1
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') {
      depth -= 1
      if (depth === 0) return text.slice(0, at + 1)
    }
  }
  return text
}
