/**
 * `response-healing`: JSON that a model was asked for and wrote with the usual faults: fences and words around it, commas,
 * quotes or brackets that are missing or too many. Values are never invented, and what is valid stays as it was written.
 */

/** The schema of the JSON, where the request has one. */
export type Expected = 'object' | 'array' | null

/** The healed text; the same text where it needs no healing, or cannot be healed. */
export type Heal = (text: string) => string

/** Longer texts are left as they are: one answer must not hold up the others. */
const LENGTH_MAX = 256 * 1024

/** Loads the library on first use. */
export const loadHeal = async (expected: Expected): Promise<Heal> => {
  const { jsonrepair, JSONRepairError } = await import('jsonrepair')
  const repaired = (text: string): string | null => {
    try {
      return jsonrepair(text)
    } catch (thrown) {
      // Nothing can be made of it, or it is nested deeper than the stack.
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

/** For json_object, and for a schema that says its type. */
export const expectedBy = (schema: unknown): Expected => {
  const type = typeof schema === 'object' && schema !== null ? (schema as Readonly<Record<string, unknown>>)['type'] : undefined
  return type === 'array' || type === 'object' ? type : null
}

const isJson = (text: string, expected: Expected): boolean => {
  try {
    const value: unknown = JSON.parse(text)
    if (expected === null) return true
    return expected === 'array' ? Array.isArray(value) : typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** The JSON in the text: what a fence holds, or from the first bracket to the one that closes it, or to the end. Null for none. */
const extracted = (text: string, expected: Expected): string | null => {
  const within = fenced(text) ?? text
  const start = firstBracket(within, expected)
  return start < 0 ? null : balanced(within.slice(start)).trim()
}

/** A fence may lack its end; one inside the JSON's own strings is not one around it. */
const fenced = (text: string): string | null => {
  const open = /^[^{[]*?```[a-z0-9]*[ \t]*\r?\n?/i.exec(text)
  if (open === null) return null
  const within = text.slice(open[0].length)
  const close = within.lastIndexOf('```')
  return close < 0 ? within : within.slice(0, close)
}

const firstBracket = (text: string, expected: Expected): number =>
  expected === 'object' ? text.indexOf('{') : expected === 'array' ? text.indexOf('[') : text.search(/[{[]/)

/** Up to the bracket that closes the first one; all of it where none does, or where a string does not end. */
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
