/** Refuses audio and video in the messages or items of a request that stays in its dialect, for a model that is known not to take them. */
import type { Part } from '../../canonical/prompt.ts'
import { isObject, type JsonValue, listOf } from '../../lib/json/json.ts'
import { lookForName } from '../../lib/text/may-name.ts'
import type { Steps } from '../../lib/steps.ts'
import type { Target } from '../provider.ts'
import { refuseUnread } from '../losses/uncarried.ts'

type Context = Parameters<typeof refuseUnread>[2]

/** Searches the JSON text, so that it is parsed only if necessary. */
export function* mayHoldUnsupportedMedia(text: string, { inputModalities }: Pick<Target, 'inputModalities'>): Steps<boolean> {
  return (inputModalities ?? null) !== null && (yield* lookForName(MEDIA_TYPES, text))
}

/** `field`: the path of the list. Throws `invalid_request` naming the message. */
export const refuseUnsupportedMedia = (messages: readonly JsonValue[], field: string, context: Context): void => {
  for (const [index, message] of messages.entries()) {
    if (!isObject(message) || message['role'] === 'assistant') continue
    for (const part of listOf(message['content'])) {
      const kind = isObject(part) && typeof part['type'] === 'string' ? MEDIA_PARTS.get(part['type']) : undefined
      if (kind !== undefined) refuseUnread(kind, { at: `${field}[${index}]`, role: 'user' }, context)
    }
  }
}

const MEDIA_TYPES = /"(?:input_audio|video_url|input_video)"/

const VIDEO: Part = { type: 'video', url: '' }

/** The kind of a part, by its type in a request. */
const MEDIA_PARTS: ReadonlyMap<string, Part> = new Map<string, Part>([
  ['input_audio', { type: 'audio', data: '', format: '' }],
  ['video_url', VIDEO],
  ['input_video', VIDEO],
])
