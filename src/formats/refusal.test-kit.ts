/** For tests: the faults reported for a refused body. */
import { GatewayError } from '../errors.ts'
import type { RequestBody } from './validate-request.ts'

/** Returns `path: message` for every fault; empty if nothing was refused. Any error but a 400 is rethrown. */
export const refusalOf = (run: () => unknown): string[] => {
  try {
    run()
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.status !== 400 || thrown.type !== 'invalid_request') throw thrown
    const issues = thrown.metadata['issues'] as { path: string; message: string }[] | undefined
    return issues?.map(({ path, message }) => `${path}: ${message}`) ?? [thrown.message]
  }
  return []
}

export const refusedPaths = (run: () => unknown): string[] => refusalOf(run).map((text) => text.slice(0, text.indexOf(': ')))

/** Parses as a server does: `__proto__` becomes an own key and 1e999 becomes infinite. */
export const json = (text: string): unknown => JSON.parse(text)

export const bodyOf = (fields: Readonly<Record<string, unknown>>): RequestBody => ({
  keys: Object.keys(fields),
  get: (field) => (Object.hasOwn(fields, field) ? fields[field] : undefined),
})
