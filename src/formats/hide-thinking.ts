/**
 * Hides thinking from a client that asked not to see any (docs/contract/requests.md#reasoning). Providers that know the option
 * send none; thinking that arrives anyway is removed here. Proofs that only the provider can read stay, since a later turn needs
 * them.
 */
import type { Call, ClientDialect } from '../canonical/call.ts'
import type { Frame, ModelEvent, NativeText, TakeFrames } from '../canonical/event.ts'
import { isObject, objectsIn } from '../lib/json/json.ts'

/** Returns true if the request asks for an answer without the text of its thinking. */
export const hidesThinking = ({ dialect, body }: Pick<Call, 'dialect' | 'body'>): boolean => {
  if (dialect === 'messages') return memberOf(body.value('thinking'), 'display') === 'omitted'
  const exclude = memberOf(body.value('reasoning'), 'exclude')
  return exclude === true || (dialect === 'chat' && exclude === undefined && body.value('include_reasoning') === false)
}

const memberOf = (value: unknown, name: string): unknown => (isObject(value) ? (value[name] ?? undefined) : undefined)

export const hidingThinking = (dialect: ClientDialect, take: TakeFrames): TakeFrames => {
  const withoutThoughts = thoughtFilter(dialect)
  const edit = EDITS[dialect]
  const shown = (frame: Frame): readonly Frame[] => {
    const events = withoutThoughts(frame.events)
    const native = frame.native === undefined ? null : editedNative(frame.native, edit)
    if (native !== null) return [{ events, native }]
    return events.length === 0 ? [] : [{ events }]
  }
  return (frames) => {
    const left = frames.flatMap(shown)
    return left.length === 0 ? undefined : take(left)
  }
}

/** A signature vouches for text that the client does not get; only Messages can express a signature alone. */
const thoughtFilter = (dialect: ClientDialect): ((events: readonly ModelEvent[]) => readonly ModelEvent[]) => {
  let isHidden = false
  const isShown = (event: ModelEvent): boolean => {
    if (event.type === 'reasoning') {
      isHidden ||= event.text !== ''
      return false
    }
    if (event.type !== 'reasoning-end') return true
    const { proof } = event
    const standsAlone = proof !== null && (proof.kind === 'encrypted' || dialect === 'messages' || !isHidden)
    isHidden = false
    return standsAlone
  }
  return (events) => (events.some(({ type }) => type === 'reasoning' || type === 'reasoning-end') ? events.filter(isShown) : events)
}

/** Changes the upstream's own object in place. */
type Edit = (object: Record<string, unknown>) => 'same' | 'changed' | 'left out'

/** Returns null if nothing of it is left. */
const editedNative = (native: NativeText, edit: Edit): NativeText | null => {
  const object = JSON.parse(native.json) as Record<string, unknown>
  const outcome = edit(object)
  if (outcome === 'same') return native
  return outcome === 'changed' ? { dialect: native.dialect, json: JSON.stringify(object) } : null
}

const CHAT_MEMBERS = ['reasoning', 'reasoning_content', 'reasoning_details', 'thinking_blocks']

const editChat: Edit = (chunk) => {
  const choices = objectsIn(chunk['choices'])
  let isChanged = false
  for (const choice of choices) {
    for (const said of objectsIn([choice['delta'], choice['message']])) {
      for (const name of CHAT_MEMBERS) {
        if (said[name] === undefined) continue
        delete said[name]
        isChanged = true
      }
    }
  }
  if (!isChanged) return 'same'
  return (chunk['usage'] ?? null) === null && choices.every(saysNothing) ? 'left out' : 'changed'
}

const saysNothing = ({ delta, finish_reason: finish }: Record<string, unknown>): boolean =>
  (finish ?? null) === null &&
  isObject(delta) &&
  Object.entries(delta).every(([name, value]) => name === 'content' && (value === '' || value === null))

const editResponses: Edit = (event) => {
  if (typeof event['type'] === 'string' && event['type'].startsWith('response.reasoning')) return 'left out'
  const response = isObject(event['response']) ? event['response'] : event
  let isChanged = false
  for (const item of objectsIn([event['item'], ...objectsIn(response['output'])])) {
    if (item['type'] !== 'reasoning') continue
    item['summary'] = []
    delete item['content']
    isChanged = true
  }
  return isChanged ? 'changed' : 'same'
}

const editMessages: Edit = (event) => {
  if (memberOf(event['delta'], 'type') === 'thinking_delta') return 'left out'
  let isChanged = false
  for (const block of objectsIn([event['content_block'], ...objectsIn(event['content'])])) {
    if (block['type'] !== 'thinking' || block['thinking'] === '') continue
    block['thinking'] = ''
    isChanged = true
  }
  return isChanged ? 'changed' : 'same'
}

const EDITS: Readonly<Record<ClientDialect, Edit>> = { chat: editChat, responses: editResponses, messages: editMessages }
