/**
 * Refuses files that a request names by their ids: they are in the operator's account, into which no client may reach (stored-objects.ts).
 */
import type { JsonBody } from '../../lib/json/json-body.ts'
import { isObject } from '../../lib/json/json.ts'
import { mayName } from '../../lib/text/may-name.ts'
import type { Steps } from '../../lib/steps.ts'
import type { Target } from '../provider.ts'
import { noFile } from '../media/no-file.ts'
import { isStoredAddress, lookForStoredAddress } from '../media/stored-addresses.ts'
import { refuse, refuseName } from '../media/stored-objects.ts'

/** Throws `invalid_request` naming the first. */
export function* refuseStoredFiles(body: JsonBody, { providerName, storedObjects }: Target): Steps<void> {
  if (storedObjects === true || !(mayName('"file_id"', body.searchable) || (yield* lookForStoredAddress(body.searchable)))) return
  yield* body.reading(['messages'])
  const messages: unknown = body.value('messages')
  for (const [index, message] of (Array.isArray(messages) ? (messages as unknown[]) : []).entries()) {
    const place = isObject(message) ? storedIn(message['content'], `messages[${index}].content`) : null
    if (place === null) continue
    if (place.id !== null && isStoredAddress(place.id)) refuseName(place.at, providerName)
    refuse(place.at, noFile(providerName, place.id))
  }
}

interface Stored {
  readonly at: string
  readonly id: string | null
}

/** The first file that a block names. The input of a call is not searched. */
const storedIn = (blocks: unknown, at: string): Stored | null => {
  for (const [index, block] of (Array.isArray(blocks) ? (blocks as unknown[]) : []).entries()) {
    if (!isObject(block)) continue
    const { type, source } = block
    const place = `${at}[${index}]`
    if (type === 'container_upload') return { at: place, id: idOf(block) }
    if (isObject(source) && source['type'] === 'file') return { at: `${place}.source`, id: idOf(source) }
    const url = isObject(source) ? source['url'] : null
    if (typeof url === 'string' && isStoredAddress(url)) return { at: `${place}.source`, id: url }
    const inside =
      type === 'tool_result'
        ? storedIn(block['content'], `${place}.content`)
        : isObject(source)
          ? storedIn(source['content'], `${place}.source.content`)
          : null
    if (inside !== null) return inside
  }
  return null
}

const idOf = ({ file_id: id }: Readonly<Record<string, unknown>>): string | null => (typeof id === 'string' ? id : null)
