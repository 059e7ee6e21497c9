/** The address of a request to an upstream of this dialect, and the header with its key. */
import type { Target } from '../provider.ts'
import { vendorOf } from '../vendors/vendors.ts'

/** `path` is one such as `/chat/completions`. A base URL may end in a query, such as Azure's `?api-version=`. */
export const addressOf = ({ baseUrl }: Target, path: string): string => {
  const query = baseUrl.indexOf('?')
  return query < 0 ? baseUrl + path : baseUrl.slice(0, query).replace(/\/+$/, '') + path + baseUrl.slice(query)
}

export const keyHeader = ({ provider, apiKey }: Target): Readonly<Record<string, string>> => {
  if (apiKey === null) return {}
  return vendorOf(provider).keyHeader === 'api-key' ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` }
}
