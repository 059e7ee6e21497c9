/**
 * Reads the messages of a client that speaks Messages: each block as a part of which only the type and the ids are read, with the text of
 * the block for the model that is asked.
 */
import { openProof, UNSIGNED } from '../../canonical/reasoning.ts'
import type { Message, Part } from '../../canonical/prompt.ts'
import { scanElements } from '../../lib/json/json-scan.ts'
import { type JsonTree, treesFrom } from '../../lib/json/json-tree.ts'
import { editElements, editMembers, readMembers } from '../../lib/json/json-splice.ts'
import { startPace, type Steps } from '../../lib/steps.ts'
import { plainCallId } from '../tools/plain-call-id.ts'
import type { Attempt } from '../provider.ts'
import { type Block, FAILED_SILENTLY, failedBesideMedia } from '../message-blocks.ts'
import { isImitation } from './model-rules.ts'

export interface Source {
  readonly text: string
  readonly message: Message
  /** The blocks that are passed on, in their order. */
  readonly blocks: readonly Block[]
  /** Some blocks were left out or changed. */
  readonly changed: boolean
}

/** A part that stands for a block of the client's. */
export type RawPart = Part & {
  readonly raw: Block
  /** For a call or a result: its id as the client wrote it, and whether its input is an object. */
  readonly given?: { readonly id: string; readonly hasInput: boolean }
}

interface Reading {
  readonly attempt: Attempt
  readonly claude: boolean
}

/** Null if this release does not know the form of a message. */
export function* readMessages(text: string, reading: Reading): Steps<readonly Source[] | null> {
  if (!text.startsWith('[')) return null
  const sources: Source[] = []
  const isStep = startPace()
  for (const tree of treesFrom(text, TO_BLOCKS)) {
    const source = yield* readMessage(text, tree, sources.length, reading)
    if (source === null) return null
    sources.push(source)
    if (isStep(tree.end - tree.start)) yield
  }
  return sources
}

/** The depth of the trees: a message, its content, a block of it. */
const TO_BLOCKS = 3

/** The text of an object, and the texts of its members. */
interface Texts {
  readonly json: string
  readonly members: ReadonlyMap<string, string>
}

const textsOf = (text: string, { start, end, members }: JsonTree): Texts | null => {
  if (members === undefined) return null
  const texts = new Map<string, string>()
  for (const [name, value] of members) texts.set(name, text.slice(value.start, value.end))
  return { json: text.slice(start, end), members: texts }
}

function* readMessage(text: string, tree: JsonTree, index: number, reading: Reading): Steps<Source | null> {
  const message = textsOf(text, tree)
  const role = textIn(message?.members.get('role'))
  const effort = role === 'system' ? effortIn(message?.members.get('output_config')) : null
  const given = message?.members.get('content')
  // A change of the effort may come without content.
  const content = effort !== null && (given === undefined || given === 'null') ? '""' : given
  if (message === null || (role !== 'user' && role !== 'assistant' && role !== 'system') || content === undefined) return null
  const at = `messages[${index}]`
  const read = tree.members?.get('content')?.elements?.map((block) => textsOf(text, block)) ?? asBlocks(content)
  if (read === null) return null
  const parts: RawPart[] = []
  let changed = false
  let foreign = false
  const isStep = startPace()
  for (const block of read) {
    const part = block === null ? null : readBlock(block, at, role, reading)
    if (part === null) return null
    if (part === FOREIGN) foreign = true
    else if (part !== BLANK) parts.push(part)
    changed ||= part === FOREIGN || part === BLANK || part.raw.json !== block?.json
    if (isStep(block?.json.length)) yield
  }
  if (reading.claude && dropLastBlanks(parts)) {
    changed = true
    tellBlank(at, reading)
  }
  if (foreign) {
    const reported = `Thinking that ${reading.attempt.target.modelId} did not do itself was left out.`
    reading.attempt.warn({ code: 'unsupported_field', field: at, message: reported })
  }
  const said: Message = effort === null ? { role, parts, at } : { role, parts, at, effort }
  return { text: message.json, message: said, blocks: parts.map(({ raw }) => raw), changed }
}

const effortIn = (config: string | undefined): string | null =>
  config?.startsWith('{') === true ? textIn(readMembers(config).get('effort')) : null

/** Content that is a string counts as one text block. */
export const asBlocks = (content: string): readonly Texts[] | null => {
  if (content === '""') return []
  const members = new Map([
    ['type', '"text"'],
    ['text', content],
  ])
  return content.startsWith('"') ? [{ json: `{"type":"text","text":${content}}`, members }] : null
}

const FOREIGN = 'foreign'
const BLANK = 'blank'

/** Null for a block that this release cannot read. */
const readBlock = ({ json, members }: Texts, at: string, role: Message['role'], reading: Reading): RawPart | 'foreign' | 'blank' | null => {
  const { attempt, claude } = reading
  const type = textIn(members.get('type'))
  const raw = { type: type ?? '', json }
  // Servers other than Claude's may make ids with other characters, and recognise them.
  const idOf = claude ? plainCallId : (id: string): string => id
  switch (type) {
    case null:
      return null
    case 'text': {
      const text = members.get('text')
      if (text?.startsWith('"') !== true) return null
      if (!claude || !isBlank(text)) return opaque(raw, at)
      // Other hosts of Claude refuse it (decisions/0240).
      const isKept = attempt.target.provider === 'anthropic' && role === 'assistant'
      if (isKept && text !== '""' && !members.has('cache_control')) return opaque(raw, at)
      if (text !== '""' || members.has('cache_control')) tellBlank(at, reading)
      return BLANK
    }
    case 'thinking':
    case 'redacted_thinking': {
      const own = provenThinking(type, members, json, attempt)
      return own === null || (claude && role !== 'assistant') ? FOREIGN : { type: 'reasoning', text: '', raw: own }
    }
    case 'tool_use': {
      const id = textIn(members.get('id'))
      const input = members.get('input') ?? ''
      return id === null
        ? null
        : {
            type: 'tool-call',
            id: idOf(id),
            name: textIn(members.get('name')) ?? '',
            arguments: input.startsWith('{') ? '{}' : input === 'null' ? '' : input,
            raw: { type, json: withoutSeals(json, members) },
            given: { id, hasInput: input.startsWith('{') },
          }
    }
    case 'tool_result': {
      const id = textIn(members.get('tool_use_id'))
      const changes = claude ? lawfulResult(members, at, attempt) : {}
      const content = changes.content ?? members.get('content')
      const said = content === undefined ? null : contentBlock(content)
      return id === null
        ? null
        : {
            type: 'tool-result',
            callId: idOf(id),
            text: '',
            // If the result answers no call, it is passed on as this part.
            pieces: said === null ? [] : [opaque(said, at)],
            raw: { type, json: Object.keys(changes).length === 0 ? json : editMembers(json, changes) },
            given: { id, hasInput: true },
          }
    }
    case 'image':
      // Only the block is read of it.
      return claude && role === 'assistant' ? { type: 'image', url: '', raw } : opaque(raw, at)
    default:
      return opaque(raw, at)
  }
}

/**
 * White space among the other blocks of an answer is taken back: Claude writes such texts itself, between what it cites. It is refused only
 * where nothing is said with it, so it goes where it comes last, with or without thinking behind it.
 */
const dropLastBlanks = (parts: RawPart[]): boolean => {
  const before = parts.length
  for (let index = before - 1; index >= 0; index -= 1) {
    const part = parts[index]
    if (part?.type === 'reasoning') continue
    if (part?.raw.type !== 'text' || !isBlank(readMembers(part.raw.json).get('text') ?? '')) break
    parts.splice(index, 1)
  }
  return parts.length < before
}

const tellBlank = (at: string, { attempt }: Reading): void =>
  attempt.warn({
    code: 'unsupported_field',
    field: at,
    message: `${attempt.target.providerName} takes no empty text; it was left out.`,
  })

/** The members of a result that change for Claude, which takes no blank texts, and that of a failed tool only in words. */
const lawfulResult = (
  members: ReadonlyMap<string, string>,
  at: string,
  { target, warn }: Attempt,
): { readonly content?: string; readonly is_error?: null } => {
  const given = members.get('content')
  const content = withoutBlanks(given)
  const change = content === undefined || content === given ? {} : { content }
  if (members.get('is_error') !== 'true') return change
  const blocks = content?.startsWith('[') === true ? blocksIn(content) : null
  const says = blocks === null ? content?.startsWith('"') === true && !isBlank(content) : blocks.length > 0
  if (!says) return { content: JSON.stringify(FAILED_SILENTLY) }
  if (blocks === null || blocks.every(({ type }) => type === 'text')) return change
  warn({ code: 'unsupported_field', field: at, message: failedBesideMedia(target.providerName) })
  return { ...change, is_error: null }
}

/** The blocks of a list of them. */
export const blocksIn = (json: string): readonly Block[] =>
  scanElements(json).map(({ start, end }) => {
    const block = json.slice(start, end)
    return { type: textIn(block.startsWith('{') ? readMembers(block).get('type') : undefined) ?? '', json: block }
  })

const opaque = (raw: Block, at: string): RawPart => ({ type: 'unknown', kind: raw.type, at, raw })

const textIn = (json: string | undefined): string | null => (json?.startsWith('"') === true ? (JSON.parse(json) as string) : null)

/** `json`: a JSON string. The first test is a cheap one: most strings begin with a letter. */
export const isBlank = (json: string): boolean => !/^"[!#-[\]-~]/.test(json) && (JSON.parse(json) as string).trim() === ''

export const withoutBlanks = (content: string | undefined): string | undefined => {
  if (content?.startsWith('[') !== true || !MAY_BE_BLANK.test(content)) return content
  return editElements(content, (json) => {
    const text = json.startsWith('{') ? readMembers(json) : null
    const said = text?.get('text')
    return textIn(text?.get('type')) === 'text' && said?.startsWith('"') === true && isBlank(said) ? null : json
  })
}

/** Matches a text or a list that is empty, or a text whose first character may be white space. */
export const MAY_BE_BLANK = /"(?:text|content)"\s*:\s*(?:"(?:["\\]|[^!-~])|\[\s*\])/

/** The content of a result, which may be a list of blocks; null if it is empty. */
const contentBlock = (content: string): Block | null => {
  if (content.startsWith('[')) return { type: '', json: content }
  return content.startsWith('"') && !isBlank(content) ? { type: 'text', json: `{"type":"text","text":${content}}` } : null
}

/**
 * The block in the form in which the model may get it back, or null if it must not. What this service sealed for another model or format,
 * and what another model signed, is not the model's own; nor is unsigned thinking, if the model signs its thinking.
 */
const provenThinking = (
  type: 'thinking' | 'redacted_thinking',
  members: ReadonlyMap<string, string>,
  json: string,
  { target, makerOf }: Attempt,
): Block | null => {
  const { modelId } = target
  const held = textIn(members.get(type === 'thinking' ? 'signature' : 'data'))
  if (type === 'thinking' && (held ?? '') === '' && isImitation(target)) return { type, json }
  if (held === UNSIGNED) return isImitation(target) ? { type, json: editMembers(json, { signature: '""' }) } : null
  if (held === '') return null
  const proof = held === null ? null : openProof(held)
  if (proof === null) return held !== null && (makerOf?.(held) ?? modelId) !== modelId ? null : { type, json }
  if (proof.format !== 'anthropic-claude-v1' || (proof.model !== undefined && proof.model !== modelId)) return null
  return proof.kind === 'encrypted'
    ? { type: 'redacted_thinking', json: JSON.stringify({ type: 'redacted_thinking', data: proof.data }) }
    : { type: 'thinking', json: editMembers(json, { type: '"thinking"', signature: JSON.stringify(proof.data) }) }
}

/** Returns a call without the proofs that this service put into it. */
const withoutSeals = (json: string, members: ReadonlyMap<string, string>): string => {
  const sealed = [...members.keys()].filter((name) => {
    const held = textIn(members.get(name))
    return held !== null && openProof(held) !== null
  })
  return sealed.length === 0 ? json : editMembers(json, Object.fromEntries(sealed.map((name) => [name, null])))
}

export const isRaw = (part: Part): part is RawPart => 'raw' in part
