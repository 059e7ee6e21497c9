/** Refuses pictures and documents with `http:` addresses: Anthropic reads only `https:` ones. */
import { isObject, listOf } from '../../lib/json/json.ts'
import { spellsNames } from '../../lib/text/may-name.ts'
import { startPace, type Steps } from '../../lib/steps.ts'
import { startsString } from './string-start.ts'
import { mediaOf } from '../media/load-media.ts'
import type { Attempt } from '../provider.ts'
import { refuse } from '../media/stored-objects.ts'
import { isKnownVendor } from '../vendors/vendors.ts'
import { rulesOf } from './model-rules.ts'

/** Throws `invalid_request` naming the first. */
export function* refusePlainAddresses({ call, target }: Attempt, native: boolean): Steps<void> {
  if (!readsHttpsOnly(target)) return
  const at = native ? yield* firstInBody(call.body) : mediaOf(call.prompt()).find(({ part }) => PLAIN.test(part.url))?.at
  if (at !== undefined && at !== null) refuse(at, `${target.providerName} reads https: addresses and data: URLs, and no http: ones.`)
}

/** An unknown server may read other addresses. */
const readsHttpsOnly = ({ provider, upstreamModel }: Attempt['target']): boolean =>
  provider === 'anthropic' || (isKnownVendor(provider) && rulesOf(upstreamModel).claude)

const PLAIN = /^\s*http:/i
const HTTP = /http:/gi

function* firstInBody(body: Attempt['call']['body']): Steps<string | null> {
  if (!(yield* mayHoldPlain(body.rawSearchable('messages') ?? ''))) return null
  yield* body.reading(['messages'])
  const messages = body.value('messages')
  for (const [index, message] of listOf(messages).entries()) {
    const at = isObject(message) ? firstIn(message['content'], `messages[${index}].content`) : null
    if (at !== null) return at
  }
  return null
}

/** Searches JSON text, in which white space may come before the address. */
function* mayHoldPlain(json: string): Steps<boolean> {
  HTTP.lastIndex = 0
  const isStep = startPace()
  for (let found = HTTP.exec(json); found !== null; found = HTTP.exec(json)) {
    if (startsString(json, found.index)) return true
    const { lastIndex } = HTTP
    if (isStep()) yield
    HTTP.lastIndex = lastIndex
  }
  return spellsNames(json)
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
