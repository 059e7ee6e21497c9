/**
 * Relays the conversation of a client that speaks Messages by the same rules as a translated one (roles/turns.ts): its blocks go through these
 * rules as parts of which only the type and the ids are read. A message that does not change keeps its text, byte for byte.
 */
import type { Message, Part } from '../../canonical/prompt.ts'
import { scanElements } from '../../lib/json/json-scan.ts'
import { editMembers } from '../../lib/json/json-splice.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'
import { withPicturesOfUser } from '../media/made-pictures.ts'
import { withLawfulCalls } from '../tools/lawful-calls.ts'
import { withPairedResults } from '../tools/paired-results.ts'
import type { Attempt } from '../provider.ts'
import { arrangeTurns, type Turn } from '../roles/turns.ts'
import type { Block } from '../message-blocks.ts'
import { BLOCK_FORM } from './encode-parts.ts'
import { rulesOf } from './model-rules.ts'
import { asBlocks, blocksIn, isBlank, isRaw, type RawPart, readMessages, type Source, withoutBlanks } from './relayed-messages.ts'

export interface RelayedConversation {
  readonly turns: readonly Turn<Block>[]
  /** JSON texts of the members that have to change. */
  readonly changes: { readonly messages?: string; readonly system?: string }
}

export interface GivenConversation {
  /** JSON texts. */
  readonly messages: string
  readonly system: string | undefined
}

/** Throws `invalid_prompt` for a conversation that cannot be read, or that holds nothing to answer. */
export function* relayConversation(given: GivenConversation, attempt: Attempt): Steps<RelayedConversation> {
  const { call, target, warn } = attempt
  const rules = rulesOf(target.upstreamModel)
  const sources = yield* readMessages(given.messages, { attempt, claude: rules.claude })
  if (sources === null) {
    // The reader of prompts throws an error that names the fault. If it accepts the conversation, that is newer than this release.
    if (rules.claude) call.prompt()
    return { turns: [], changes: {} }
  }
  const lose = (field: string, message: string): void => warn({ code: 'unsupported_field', field, message })
  const mapped = (field: string, message: string): void => warn({ code: 'mapped_field', field, message })
  yield
  const lawful = yield* withLawfulCalls({ messages: sources.map(({ message }) => message) }, mapped)
  yield
  if (!rules.claude) return ofImitation(sources, lawful.messages)
  const paired = yield* withPairedResults(lawful.messages, warn, { openEnd: false })
  const messages = withPicturesOfUser(paired, lose, rawText)
  yield
  const arranged = yield* arrangeTurns<Block>({ prompt: { messages }, target, rules, lose, mapped }, { ...BLOCK_FORM, encode: encodeRaw })
  const leading =
    arranged.system.length === 0
      ? []
      : sources.slice(
          0,
          sources.findIndex(({ message: { role } }) => role !== 'system'),
        )
  for (const { message } of leading.filter(({ blocks }) => blocks.length > 0))
    mapped(message.at ?? 'messages', `${target.upstreamModel} takes no system message here; its words were sent in the system prompt.`)
  yield
  return { turns: arranged.turns, changes: yield* changesOf(arranged.turns, arranged.system, sources, given.system) }
}

/**
 * A conversation with an imitation of Claude is passed on as its client wrote it, except for the thinking of other models and calls that
 * every server refuses (decisions/0132).
 */
const ofImitation = (given: readonly Source[], lawful: readonly Message[]): RelayedConversation => {
  const sources = given.map((source, index): Source => {
    const message = lawful[index] ?? source.message
    return message === source.message ? source : { ...source, message, blocks: message.parts.filter(isRaw).map(withIds), changed: true }
  })
  const turns = sources.map(({ message, blocks }) => ({ role: roleOf(message), blocks, at: message.at ?? 'messages' }))
  if (sources.every(({ changed }) => !changed)) return { turns, changes: {} }
  const texts = sources.flatMap(({ text, changed, blocks }) => {
    if (!changed) return [text]
    return blocks.length === 0 ? [] : [editMembers(text, { content: `[${blocks.map(({ json }) => json).join(',')}]` })]
  })
  return { turns, changes: { messages: `[${texts.join(',')}]` } }
}

const roleOf = ({ role }: Message): Turn<Block>['role'] => (role === 'developer' ? 'system' : role)

/** Only a list of blocks begins with `[`. */
const isList = ({ json }: Block): boolean => json.startsWith('[')

/** The texts of the blocks exist already. */
function* encodeRaw({ parts }: Message): Steps<readonly Block[]> {
  yield
  return parts.flatMap(rawBlocks)
}

const rawText = (text: string): RawPart => ({ type: 'text', text, raw: { type: 'text', json: JSON.stringify({ type: 'text', text }) } })

const rawBlocks = (part: Part): readonly Block[] => {
  if (isRaw(part)) return isList(part.raw) ? blocksIn(part.raw.json) : [withIds(part)]
  if (part.type !== 'tool-result') return [] // the first part of a result that became text; the rest of it is raw
  return [{ type: 'tool_result', json: JSON.stringify({ type: 'tool_result', tool_use_id: part.callId, content: part.text }) }]
}

/** Returns the same block if its ids, and the form of its input, are as the provider takes them. */
const withIds = (part: RawPart): Block => {
  const { raw, given } = part
  if (given === undefined || (part.type !== 'tool-call' && part.type !== 'tool-result')) return raw
  const [name, id] = part.type === 'tool-call' ? ['id', part.id] : ['tool_use_id', part.callId]
  if (given.id === id && given.hasInput) return raw
  const changes = { ...(given.id === id ? {} : { [name]: JSON.stringify(id) }), ...(given.hasInput ? {} : { input: '{}' }) }
  return { type: raw.type, json: editMembers(raw.json, changes) }
}

/** A message whose blocks stay together and unchanged keeps its text. */
function* changesOf(
  turns: readonly Turn<Block>[],
  leading: readonly Block[],
  sources: readonly Source[],
  system: string | undefined,
): Steps<RelayedConversation['changes']> {
  const whole = new Map<Block, Source>()
  const changes = new Map<string, Source>()
  for (const source of sources) {
    const [first] = source.blocks
    if (first !== undefined && !source.changed) whole.set(first, source)
    const { effort, at } = source.message
    if (effort !== undefined && at !== undefined) changes.set(at, source)
  }
  yield
  const texts = (yield* mapInSteps(turns, (turn) => {
    const change = turn.effort === undefined ? undefined : changes.get(turn.at)
    return change === undefined ? messageTexts(turn, whole) : [changeText(turn, change)]
  })).flat()
  yield
  const same = texts.length === sources.length && texts.every((text, index) => text === sources[index]?.text)
  const said = withoutBlanks(system)
  const before = leading.length === 0 ? said : `[${[...systemBlocks(said), ...leading.map(({ json }) => json)].join(',')}]`
  return {
    ...(same ? {} : { messages: `[${texts.join(',')}]` }),
    ...(before === undefined || before === system ? {} : { system: before }),
  }
}

/** A message that changes the effort keeps its other members, and its text if its blocks are as they came. */
const changeText = ({ blocks }: Turn<Block>, { text, ...source }: Source): string =>
  !source.changed && blocks.length === source.blocks.length && blocks.every((block, index) => block === source.blocks[index])
    ? text
    : editMembers(text, { content: `[${blocks.map(({ json }) => json).join(',')}]` })

const messageTexts = ({ role, blocks }: Turn<Block>, whole: ReadonlyMap<Block, Source>): readonly string[] => {
  const texts: string[] = []
  let loose: string[] = []
  const flush = (): void => {
    if (loose.length > 0) texts.push(`{"role":"${role}","content":[${loose.join(',')}]}`)
    loose = []
  }
  for (let place = 0; place < blocks.length; place += 1) {
    const block = blocks[place]
    if (block === undefined) break
    const source = whole.get(block)
    if (source === undefined || !source.blocks.every((each, index) => each === blocks[place + index])) {
      loose.push(block.json)
      continue
    }
    flush()
    texts.push(source.message.role === role ? source.text : editMembers(source.text, { role: JSON.stringify(role), ...ONLY_OF_SYSTEM }))
    place += source.blocks.length - 1
  }
  flush()
  return texts
}

/** Members that only a system message may have. */
const ONLY_OF_SYSTEM = { clear_at: null, output_config: null }

/** JSON texts of the blocks of a system prompt, which is a string or a list of blocks. */
export const systemBlocks = (system: string | undefined): readonly string[] => {
  if (system === undefined || system === 'null') return []
  if (system.startsWith('[')) return scanElements(system).map(({ start, end }) => system.slice(start, end))
  return system.startsWith('"') && !isBlank(system) ? (asBlocks(system) ?? []).map(({ json }) => json) : []
}
