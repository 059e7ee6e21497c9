/** Reads the answer of an engine, which is as untrusted as the pages that it lists: every member is checked and bounded. */
import { cutText } from '../../lib/text/cut-text.ts'
import { isObject, jsonIn } from '../../lib/json/json.ts'
import { isExcludedBy, isInDomains } from '../domains.ts'
import { plainText } from '../outside-text.ts'
import type { EngineKind } from './engine-kinds.ts'
import type { Found, Search } from './search.ts'

const TITLE_MAX = 300
const URL_MAX = 2048
const PUBLISHED_MAX = 100

export interface Reading {
  /** The number of results that the engine returned. */
  readonly given: number
  /** The results that the search's filters allow. */
  readonly found: readonly Found[]
}

/** Returns null if the answer does not have the form of that kind of engine. */
export const readResults = (kind: EngineKind, text: string, search: Search): Reading | null => {
  const answer = jsonIn(text)
  if (!isObject(answer)) return null
  const results = kind.results(answer) ?? []
  if (!Array.isArray(results)) return null
  const found: Found[] = []
  for (const result of results as readonly unknown[]) {
    if (found.length >= search.most) break
    const one = isObject(result) ? readResult(kind, result, search) : null
    if (one !== null) found.push(one)
  }
  return { given: results.length, found }
}

const readResult = (kind: EngineKind, result: Readonly<Record<string, unknown>>, search: Search): Found | null => {
  const address = result['url']
  if (typeof address !== 'string' || address.length > URL_MAX || !URL.canParse(address)) return null
  const url = new URL(address)
  if ((url.protocol !== 'https:' && url.protocol !== 'http:') || url.username !== '' || url.password !== '') return null
  if (search.allowed.length > 0 && !isInDomains(url, search.allowed)) return null
  if (isExcludedBy(url, search.excluded)) return null
  return {
    title: shown(result['title'], TITLE_MAX),
    url: url.href,
    content: shown(kind.content(result), search.characters),
    published: shown(result[kind.published], PUBLISHED_MAX) || null,
  }
}

const shown = (value: unknown, most: number): string => (typeof value === 'string' ? cutText(plainText(value).trim(), most) : '')
