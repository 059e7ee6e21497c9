import { OWN_NAMES } from './own-names.ts'

const PREFIXES = OWN_NAMES.tools

/** Every spelling of a tool's type, ours first. */
export const serverToolTypes = <Name extends string>(name: Name) => PREFIXES.map((prefix) => `${prefix}${name}` as const)

/** Returns `web_search` for `service:web_search`; null for a tool that is not the service's. */
export const serverToolName = (type: string): string | null => {
  const prefix = PREFIXES.find((prefix) => type.startsWith(prefix))
  return prefix === undefined ? null : type.slice(prefix.length)
}
