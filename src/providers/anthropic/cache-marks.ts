/** The API refuses a request with more than four marks of what to cache, and coding agents mark as they please. */
import { editElements, editMembers, rawMember } from '../../lib/json-splice.ts'
import { keptMarks, MARKS_MAX, tooManyMarks } from '../cache-marks.ts'
import type { Attempt } from '../provider.ts'

export interface MarkedTexts {
  /** JSON texts, where there are any. */
  readonly tools: string | undefined
  readonly system: string | undefined
  readonly messages: string | undefined
  /** The request as a whole is marked: that is one mark. */
  readonly whole: boolean
}

/** Those of the texts that lose a mark. */
export const limitCacheMarks = (
  { whole, ...texts }: MarkedTexts,
  { target, warn }: Pick<Attempt, 'target' | 'warn'>,
): Partial<Record<'tools' | 'system' | 'messages', string>> => {
  const most = MARKS_MAX - (whole ? 1 : 0)
  const [tools, system, messages] = [countMarks(texts.tools), countMarks(texts.system), countMarks(texts.messages)]
  const all = tools + system + messages
  if (all <= most) return {}
  warn(tooManyMarks(target.providerName, all - most))
  const isKept = keptMarks(tools + system, messages, most)
  let position = -1
  const keep = (): boolean => {
    position += 1
    return isKept(position)
  }
  const edited = (text: string | undefined): string | undefined => (text === undefined ? undefined : editMarks(text, keep))
  // In the order in which the model reads them.
  const changed = { tools: edited(texts.tools), system: edited(texts.system), messages: edited(texts.messages) }
  return Object.fromEntries(Object.entries(changed).filter(([name, text]) => text !== texts[name as keyof typeof texts]))
}

/** A search of the text, for the lane that does not parse. */
export const mayExceedMarks = (text: string): boolean => text.split(`"${NAME}"`, MARKS_MAX + 2).length > MARKS_MAX + 1

const NAME = 'cache_control'

const countMarks = (text: string | undefined): number => {
  let count = 0
  if (text?.includes(`"${NAME}"`) === true)
    editMarks(text, () => {
      count += 1
      return true
    })
  return count
}

/** A list of blocks, messages or tools without the marks that are not kept. */
const editMarks = (text: string, keep: () => boolean): string =>
  text.startsWith('[') ? editElements(text, (one) => editMark(one, keep)) : text

const editMark = (text: string, keep: () => boolean): string => {
  if (!text.startsWith('{') || !text.includes(`"${NAME}"`)) return text
  const content = rawMember(text, 'content')
  const edited = content === undefined ? undefined : editMarks(content, keep)
  const mark = rawMember(text, NAME)
  const dropped = mark !== undefined && mark !== 'null' && !keep()
  if (!dropped && edited === content) return text
  return editMembers(text, { ...(edited === undefined ? {} : { content: edited }), ...(dropped ? { [NAME]: null } : {}) })
}
