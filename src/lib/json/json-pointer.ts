import { isObject } from './json.ts'

/**
 * The object that a reference within the document points to (`#/$defs/a`); null for any other reference, and for one that leads nowhere.
 */
export const resolvePointer = (root: Readonly<Record<string, unknown>>, reference: string): Readonly<Record<string, unknown>> | null => {
  if (!reference.startsWith('#/')) return null
  let at: unknown = root
  for (const step of reference.slice(2).split('/')) {
    const key = unescaped(step)
    if (Array.isArray(at)) at = /^\d+$/.test(key) ? (at as unknown[])[Number(key)] : undefined
    else at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }
  return isObject(at) ? at : null
}

const unescaped = (step: string): string => {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain // a lone percent sign is a name like any other
  }
}
