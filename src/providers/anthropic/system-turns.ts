/**
 * System messages among the turns of a Messages client. A Claude that does not know them refuses the request: those at the
 * beginning are put into the system prompt, the later ones stay where they are, as words of the user.
 */
import { editMembers, rawMember } from '../../lib/json-splice.ts'
import { isObject, type JsonValue } from '../../lib/json.ts'
import { scanElements } from '../../lib/json-scan.ts'

interface Settled {
  readonly messages: string
  /** Undefined where the system prompt stays as it is. */
  readonly system?: string
}

interface Given {
  /** JSON texts. */
  readonly messages: string
  readonly system: string | undefined
  /** The model knows a system message between turns. */
  readonly systemTurns: boolean
  /** Called for each message that was moved or changed. */
  readonly mapped: (field: string) => void
}

interface Turn {
  readonly text: string
  readonly role: unknown
  /** It begins with the result of a tool, which has to follow its call directly. */
  readonly answers: boolean
  readonly index: number
}

/** Null where nothing has to change. */
export const settleSystemTurns = ({ messages, system, systemTurns, mapped }: Given): Settled | null => {
  const turns = turnsOf(messages)
  const first = turns.findIndex(({ role }) => role !== 'system')
  const leading = first < 0 ? [] : turns.slice(0, first)
  const rest = turns.slice(leading.length)
  const misplaced = rest.filter((turn, index) => turn.role === 'system' && !(systemTurns && isLawful(rest, index)))
  if (leading.length === 0 && misplaced.length === 0) return null
  for (const { index } of [...leading, ...misplaced]) mapped(`messages[${index}]`)
  const settled = answersFirst(rest.map((turn) => (misplaced.includes(turn) ? asUser(turn) : turn)))
  return {
    messages: `[${settled.map(({ text }) => text).join(',')}]`,
    ...(leading.length === 0 ? {} : { system: joinedSystem(system, leading) }),
  }
}

const turnsOf = (messages: string): Turn[] =>
  scanElements(messages).map(({ start, end }, index) => {
    const text = messages.slice(start, end)
    const message = JSON.parse(text) as JsonValue
    const content = isObject(message) ? message['content'] : undefined
    const answers = Array.isArray(content) && content.some((block) => isObject(block) && block['type'] === 'tool_result')
    return { text, role: isObject(message) ? message['role'] : undefined, answers, index }
  })

/** It follows a user's turn and comes last or before the assistant's. Neighbours are one. */
const isLawful = (turns: readonly Turn[], position: number): boolean => {
  const before = turns.slice(0, position).findLast(({ role }) => role !== 'system')
  const after = turns.slice(position).find(({ role }) => role !== 'system')
  return before?.role === 'user' && after?.role !== 'user'
}

const asUser = (turn: Turn): Turn => ({ ...turn, role: 'user', text: editMembers(turn.text, { role: '"user"' }) })

/** The results of tools stand before all else that the user says. */
const answersFirst = (turns: readonly Turn[]): readonly Turn[] => {
  const settled: Turn[] = []
  for (const turn of turns) {
    let place = settled.length
    if (turn.role === 'user' && turn.answers) while (isWordsOfUser(settled[place - 1])) place -= 1
    settled.splice(place, 0, turn)
  }
  return settled
}

const isWordsOfUser = (turn: Turn | undefined): boolean => turn !== undefined && turn.role === 'user' && !turn.answers

const joinedSystem = (system: string | undefined, leading: readonly Turn[]): string => {
  const blocks = [system, ...leading.map(({ text }) => rawMember(text, 'content'))].flatMap((content) => blocksOf(content))
  return `[${blocks.join(',')}]`
}

/** JSON texts of the blocks that a text, or a list of them, is. */
const blocksOf = (content: string | undefined): string[] => {
  if (content === undefined || content === 'null' || content === '""') return []
  if (!content.startsWith('[')) return [`{"type":"text","text":${content}}`]
  return scanElements(content).map(({ start, end }) => content.slice(start, end))
}
