/**
 * Moves system messages among the turns of a Messages client, for a server whose template takes none there: those at the beginning go into
 * the system prompt, and later ones stay in place as messages of the user.
 */
import { parseJsonInSteps } from '../../lib/json/json-steps.ts'
import { editMembers, rawMember } from '../../lib/json/json-splice.ts'
import { isObject } from '../../lib/json/json.ts'
import { scanElements } from '../../lib/json/json-scan.ts'
import { eachInSteps, type Steps } from '../../lib/steps.ts'

interface Settled {
  readonly messages: string
  /** Undefined if the system prompt stays as it is. */
  readonly system?: string
}

interface Turn {
  readonly text: string
  readonly role: unknown
  /** It holds the result of a tool, which has to follow its call directly. */
  readonly answers: boolean
}

/** Both texts are JSON. Null if nothing has to change. */
export function* settleSystemTurns(messages: string, system: string | undefined): Steps<Settled | null> {
  const elements = scanElements(messages)
  yield
  const turns = yield* eachInSteps(
    elements,
    ({ start, end }) => readTurn(messages.slice(start, end)),
    ({ start, end }) => end - start,
  )
  if (!turns.some(isSystem)) return null
  const first = turns.findIndex((turn) => !isSystem(turn))
  const leading = first < 0 ? turns : turns.slice(0, first)
  const rest = turns.slice(leading.length).map((turn) => (isSystem(turn) ? asUser(turn) : turn))
  yield
  return {
    messages: `[${answersFirst(rest)
      .map(({ text }) => text)
      .join(',')}]`,
    ...(leading.length === 0 ? {} : { system: joinedSystem(system, leading) }),
  }
}

function* readTurn(text: string): Steps<Turn> {
  const message = yield* parseJsonInSteps(text)
  const content = isObject(message) ? message['content'] : undefined
  const answers = Array.isArray(content) && content.some((block) => isObject(block) && block['type'] === 'tool_result')
  return { text, role: isObject(message) ? message['role'] : undefined, answers }
}

const isSystem = ({ role }: Turn): boolean => role === 'system'

const asUser = (turn: Turn): Turn => ({ ...turn, role: 'user', text: editMembers(turn.text, { role: '"user"' }) })

/** Results of tools have to come before everything else that the user says. */
const answersFirst = (turns: readonly Turn[]): readonly Turn[] => {
  const settled: Turn[] = []
  let words: Turn[] = []
  for (const turn of turns) {
    if (turn.role === 'user' && !turn.answers) {
      words.push(turn)
      continue
    }
    if (turn.role !== 'user') {
      for (const said of words) settled.push(said)
      words = []
    }
    settled.push(turn)
  }
  return [...settled, ...words]
}

const joinedSystem = (system: string | undefined, leading: readonly Turn[]): string => {
  const blocks = [system, ...leading.map(({ text }) => rawMember(text, 'content'))].flatMap((content) => blocksOf(content))
  return `[${blocks.join(',')}]`
}

/** JSON texts of the blocks of content, which is a string or a list of blocks. */
const blocksOf = (content: string | undefined): string[] => {
  if (content === undefined || content === 'null' || content === '""') return []
  if (!content.startsWith('[')) return [`{"type":"text","text":${content}}`]
  return scanElements(content).map(({ start, end }) => content.slice(start, end))
}
