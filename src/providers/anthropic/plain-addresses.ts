/** Pictures and documents by `http:` addresses: Anthropic reads `https:` ones only. */
import { isObject } from '../../lib/json.ts'
import { mayName } from '../../lib/may-name.ts'
import { mediaOf } from '../load-media.ts'
import type { Attempt } from '../provider.ts'
import { refuse } from '../stored-objects.ts'
import { isKnownVendor } from '../vendors.ts'
import { rulesOf } from './model-rules.ts'

/** Throws `invalid_request` naming the first. */
export const refusePlainAddresses = ({ call, target }: Attempt, native: boolean): void => {
  if (!readsHttpsOnly(target)) return
  const at = native ? firstInBody(call.body) : mediaOf(call.prompt()).find(({ part }) => PLAIN.test(part.url))?.at
  if (at !== undefined && at !== null) refuse(at, `${target.providerName} reads https: addresses and data: URLs, and no http: ones.`)
}

/** An unknown server may read others. */
const readsHttpsOnly = ({ provider, upstreamModel }: Attempt['target']): boolean =>
  provider === 'anthropic' || (isKnownVendor(provider) && rulesOf(upstreamModel).claude)

const PLAIN = /^\s*http:/i
const PLAIN_IN_JSON = /"(?:\s|\\[nrt])*http:/i

const firstInBody = (body: Attempt['call']['body']): string | null => {
  const messages = mayName(PLAIN_IN_JSON, body.rawSearchable('messages') ?? '') ? body.value('messages') : undefined
  for (const [index, message] of listOf(messages).entries()) {
    const at = isObject(message) ? firstIn(message['content'], `messages[${index}].content`) : null
    if (at !== null) return at
  }
  return null
}

const firstIn = (blocks: unknown, at: string): string | null => {
  for (const [index, block] of listOf(blocks).entries()) {
    if (!isObject(block)) continue
    const { type, source, content } = block
    const place = `${at}[${index}]`
    const url = isObject(source) && source['type'] === 'url' ? source['url'] : null
    if (typeof url === 'string' && PLAIN.test(url)) return `${place}.source.url`
    const inside = isObject(source) ? firstIn(source['content'], `${place}.source.content`) : null
    const found = inside ?? (type === 'tool_result' ? firstIn(content, `${place}.content`) : null)
    if (found !== null) return found
  }
  return null
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : [])
