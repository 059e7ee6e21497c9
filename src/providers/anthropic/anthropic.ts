/** The adapter for all upstreams that speak Anthropic's Messages. */
import { type Call } from '../../canonical/call.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { isObject, jsonIn, textOf } from '../../lib/json/json.ts'
import { unusable } from '../failures/classify-failure.ts'
import { jsonAdapter } from '../transport/json-adapter.ts'
import type { Body, WholeAnswer } from '../transport/json-post.ts'
import { createDistinctIds } from '../tools/distinct-ids.ts'
import { withLoadedMedia } from '../media/load-media.ts'
import { withUnescapedMedia } from '../media/unescaped-media.ts'
import { encoded } from '../transport/encoded.ts'
import type { Attempt, ProviderContext } from '../provider.ts'
import type { EventReader } from '../transport/event-reader.ts'
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

/**
 * A client of this dialect chooses the version of the API for its request, and any client may choose betas. Later versions refuse these
 * settings, which a preset may have without its clients' knowledge, so a request with one of them goes with our own (decisions/0249).
 */
const versionHeaders = ({ passHeaders, body }: Call): Record<string, string> => ({
  'anthropic-version': API_VERSION,
  ...passHeaders,
  ...(SAMPLING.some((field) => body.has(field)) ? { 'anthropic-version': API_VERSION } : {}),
})

const SAMPLING = ['temperature', 'top_p', 'top_k'] as const

const eventReader = ({ call, target }: Attempt, native: boolean): EventReader => {
  const decoder = createMessagesDecoder(target.modelId, call.replays)
  const distinct = createDistinctIds()
  let stopped = false
  let started = false
  let said = false
  /** The places of the blocks that have begun. */
  const begun = new Set<unknown>()
  let latest = 0

  /** The events that must come before this one, and that the server has left out. */
  const missingBefore = ({ type, index, delta }: Record<string, unknown>): readonly Record<string, unknown>[] => {
    const isDelta = type === 'content_block_delta'
    if (!isDelta && type !== 'content_block_start') return []
    const block = isDelta && !begun.has(index) && isObject(delta) ? BLOCKS[textOf(delta['type'])] : undefined
    return [
      ...(started ? [] : [{ type: 'message_start', message: { type: 'message', role: 'assistant', content: [] } }]),
      ...(block === undefined ? [] : [{ type: 'content_block_start', index, content_block: block }]),
    ]
  }

  const pass = (event: Record<string, unknown>, json: string, frames: Frame[]): void => {
    started ||= event['type'] === 'message_start'
    if (event['type'] === 'content_block_start') {
      said = true
      begun.add(event['index'])
      latest = Number(event['index'])
    }
    frames.push({ events: decoder.event(event), ...(native ? { native: { dialect: 'messages', json } as const } : {}) })
  }

  return {
    stopped: () => stopped,
    read(body, { event: name, data }, frames) {
      if (!isObject(body)) throw unusable(target, 'sent a stream event that is not an object.')
      const event = body['type'] === undefined && name !== null ? { ...body, type: name } : body
      if (event['type'] === 'error' || name === 'error' || isObject(event['error'])) throw anthropicFailure(200, data, target)
      if (!KNOWN_EVENTS.has(event['type'])) return
      if (event['type'] === 'message_start') {
        // A proxy that retries in the middle of a stream begins a second answer, whose blocks would be appended to those of the first.
        if (said) throw unusable(target, 'began a second answer before the first was complete.')
        if (started) return
      }
      const begins = event['type'] === 'content_block_start'
      stopped = event['type'] === 'message_stop'
      // A block without a place is the next one; what has no place else belongs to the latest block.
      const placed =
        typeof event['index'] === 'number' || !textOf(event['type']).startsWith('content_block_')
          ? event
          : { ...event, index: begins ? begun.size : latest }
      for (const missing of missingBefore(placed)) pass(missing, JSON.stringify(missing), frames)
      const mended = begins && mendBlocks([event['content_block']], distinct)
      pass(placed, placed !== body || mended ? JSON.stringify(placed) : data, frames)
    },
  }
}

/** The blocks as they begin, by the types of their deltas. A call cannot be begun for a server, since only its beginning has its name. */
const BLOCKS: Readonly<Record<string, object>> = {
  text_delta: { type: 'text', text: '' },
  thinking_delta: { type: 'thinking', thinking: '', signature: '' },
}

const wholeFrame = ({ text, body }: WholeAnswer, { call, target }: Attempt, native: boolean): Frame => {
  if (isObject(body) && (body['type'] === 'error' || isObject(body['error']))) throw anthropicFailure(200, text, target)
  if (!isObject(body) || !Array.isArray(body['content'])) throw unusable(target, 'answered without any content.')
  const mended = mendBlocks(body['content'], createDistinctIds())
  const events: readonly ModelEvent[] = createMessagesDecoder(target.modelId, call.replays).message(body)
  const json = mended ? JSON.stringify(body) : text
  return { events, ...(native ? { native: { dialect: 'messages', json } as const } : {}) }
}

/**
 * Gives blocks the members that clients need, and mends those of calls: clients find the call of a result by its id, which Kimi sometimes
 * repeats, and the input is an object, which some servers send as text. True if any was changed.
 */
const mendBlocks = (blocks: readonly unknown[], distinct: (id: string) => string): boolean => {
  let changed = false
  for (const block of blocks) {
    if (!isObject(block)) continue
    const { type, id, input } = block
    const mended: Record<string, unknown> = { ...NEEDS[textOf(type)], ...block }
    if (type === 'tool_use') mended['id'] = distinct(textOf(id) || 'toolu')
    const parsed = typeof input === 'string' ? jsonIn(input) : null
    if (isObject(parsed)) mended['input'] = parsed
    changed ||= Object.keys(mended).some((name) => mended[name] !== block[name])
    Object.assign(block, mended)
  }
  return changed
}

/** The members that a block of each type must have. */
const NEEDS: Readonly<Record<string, object>> = {
  text: { text: '' },
  thinking: { thinking: '', signature: '' },
  tool_use: { name: '', input: {} },
}
