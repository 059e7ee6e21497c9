/** The adapter for all upstreams that speak Anthropic's Messages. */
import { type Call } from '../../canonical/call.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { isObject, jsonIn } from '../../lib/json.ts'
import { unusable } from '../classify-failure.ts'
import { jsonAdapter } from '../json-adapter.ts'
import type { Body, WholeAnswer } from '../json-post.ts'
import { createDistinctIds } from '../distinct-ids.ts'
import { withLoadedMedia } from '../load-media.ts'
import { withUnescapedMedia } from '../unescaped-media.ts'
import { encoded } from '../encoded.ts'
import type { Attempt, ProviderContext } from '../provider.ts'
import type { EventReader } from '../stream-frames.ts'
import { createMessagesDecoder, KNOWN_EVENTS } from './decode.ts'
import { anthropicWire } from './encode.ts'
import { anthropicFailure } from './errors.ts'

const API_VERSION = '2023-06-01'

export const anthropic = jsonAdapter((attempt, context) => {
  const { call, target } = attempt
  return {
    dialect: 'messages',
    url: messagesUrl(target.baseUrl),
    headers: ownHeaders(attempt),
    body: call.dialect === 'messages' ? encoded(anthropicWire(attempt), attempt, context) : translatedBody(attempt, context),
    failure: anthropicFailure,
    events: (native) => eventReader(attempt, native),
    whole: (answer, native, frames) => void frames.push(wholeFrame(answer, attempt, native)),
  }
})

/** Anthropic fetches only https: addresses, and of files only PDFs. */
const translatedBody = async (attempt: Attempt, context: ProviderContext): Promise<Body> => {
  const loaded = await withLoadedMedia(await withUnescapedMedia(attempt, context), context.loadMedia, ({ url }) => /^http:/i.test(url))
  return encoded(anthropicWire(loaded), attempt, context)
}

/** Operators write the address with or without the version of the API. */
export const messagesUrl = (baseUrl: string): string => {
  const base = baseUrl.replace(/\/+$/, '')
  return base.endsWith('/v1') ? `${base}/messages` : `${base}/v1/messages`
}

/** The key, and the version of the API for which the request is written. */
export const ownHeaders = ({ call, target }: Attempt): Record<string, string> => ({
  ...versionHeaders(call),
  ...(target.apiKey === null ? {} : { 'x-api-key': target.apiKey }),
})

/** A client of this dialect chooses the version of the API for its request, and any client may choose betas. */
const versionHeaders = ({ passHeaders }: Call): Record<string, string> => ({ 'anthropic-version': API_VERSION, ...passHeaders })

const eventReader = ({ call, target }: Attempt, native: boolean): EventReader => {
  const decoder = createMessagesDecoder(target.modelId, call.replays)
  const distinct = createDistinctIds()
  let stopped = false
  let started = false
  let said = false
  return {
    stopped: () => stopped,
    read(event, { event: name, data }, frames) {
      if (!isObject(event)) throw unusable(target, 'sent a stream event that is not an object.')
      if (event['type'] === 'error' || name === 'error' || isObject(event['error'])) throw anthropicFailure(200, data, target)
      if (!KNOWN_EVENTS.has(event['type'])) return
      if (event['type'] === 'message_start') {
        // A proxy that retries in the middle of a stream begins a second answer, whose blocks would be appended to those of the first.
        if (said) throw unusable(target, 'began a second answer before the first was complete.')
        if (started) return
        started = true
      }
      said ||= event['type'] === 'content_block_start'
      stopped = event['type'] === 'message_stop'
      const renamed = event['type'] === 'content_block_start' && mendIds([event['content_block']], distinct)
      const events = decoder.event(event)
      const json = native && (mendInputs([event['content_block']]) || renamed) ? JSON.stringify(event) : data
      frames.push({ events, ...(native ? { native: { dialect: 'messages', json } as const } : {}) })
    },
  }
}

const wholeFrame = ({ text, body }: WholeAnswer, { call, target }: Attempt, native: boolean): Frame => {
  if (isObject(body) && (body['type'] === 'error' || isObject(body['error']))) throw anthropicFailure(200, text, target)
  if (!isObject(body) || !Array.isArray(body['content'])) throw unusable(target, 'answered without any content.')
  const renamed = mendIds(body['content'], createDistinctIds())
  const events: readonly ModelEvent[] = createMessagesDecoder(target.modelId, call.replays).message(body)
  const json = native && (mendInputs(body['content']) || renamed) ? JSON.stringify(body) : text
  return { events, ...(native ? { native: { dialect: 'messages', json } as const } : {}) }
}

/**
 * Makes ids of calls distinct: clients find the call of a result by its id, and Kimi sometimes gives two calls the same. True if any was
 * changed.
 */
const mendIds = (blocks: readonly unknown[], distinct: (id: string) => string): boolean => {
  let changed = false
  for (const block of blocks) {
    const given = isObject(block) && block['type'] === 'tool_use' ? block['id'] : undefined
    if (!isObject(block) || typeof given !== 'string' || given === '') continue
    const id = distinct(given)
    changed ||= id !== given
    block['id'] = id
  }
  return changed
}

/** The input of a call is an object in this dialect, but some servers send it as text. True if any was changed. */
const mendInputs = (blocks: readonly unknown[]): boolean => {
  let changed = false
  for (const block of blocks) {
    const input = isObject(block) ? block['input'] : undefined
    const parsed = typeof input === 'string' ? jsonIn(input) : null
    if (!isObject(block) || !isObject(parsed)) continue
    block['input'] = parsed
    changed = true
  }
  return changed
}
