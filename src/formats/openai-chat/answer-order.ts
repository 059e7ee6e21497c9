/** Puts an assistant message in the order in which the model produced it, as far as its thinking records its places (decisions/0121). */
import { PARAGRAPH_BREAK } from '../../canonical/event.ts'
import type { PlaceOfThought } from '../../canonical/place-of-thought.ts'
import type { Part } from '../../canonical/prompt.ts'
import type { Thought } from './read-reasoning.ts'

type Text = Extract<Part, { type: 'text' }>

/**
 * Thinking without a place follows the previous thinking, or comes first. Places beyond the end, for example in a text that the
 * client shortened, count as the end.
 */
export const inOrderOfAnswer = (thoughts: readonly Thought[], said: readonly Part[], calls: readonly Part[]): Part[] => {
  const words = wordsOf(said)
  let called = 0
  const placed = thoughts.flatMap(({ place, parts }): readonly Part[] => {
    if (place === null) return parts
    const before = words.before(place)
    const made = calls.slice(called, place.calls)
    called += made.length
    if (parts.some(isOpenAiThinking)) words.skipBreak()
    return [...before, ...made, ...parts]
  })
  return [...placed, ...words.rest(), ...calls.slice(called)]
}

/**
 * OpenAI's messages are separate items, without the break that this service inserts between them. Claude's texts may begin with a
 * break of their own.
 */
const isOpenAiThinking = (part: Part): boolean => part.type === 'reasoning' && part.proof?.format === 'openai-responses-v1'

/** The place after all text, and before all calls that the client runs. */
export const BEHIND_WORDS: PlaceOfThought = { text: Number.POSITIVE_INFINITY, calls: 0 }

interface Words {
  /** Takes the parts before the place that were not taken yet. */
  before(place: PlaceOfThought): Part[]
  /** Skips the break at the beginning of the rest of a text that was cut. */
  skipBreak(): void
  rest(): readonly Part[]
}

const wordsOf = (said: readonly Part[]): Words => {
  let next = 0
  /** The rest of a text that was cut. */
  let cut: Text | null = null
  let passed = 0

  const take = (): Part | undefined => {
    const part = cut ?? said[next]
    cut = null
    return part
  }

  return {
    before({ text: end }) {
      const taken: Part[] = []
      while (passed < end && next < said.length) {
        const part = take()
        if (part === undefined) break
        const length = part.type === 'text' ? part.text.length : 0
        if (part.type === 'text' && passed + length > end) {
          const at = characterEnd(part.text, end - passed)
          if (at < length) {
            const { cache: _, ...unmarked } = part
            taken.push({ ...unmarked, text: part.text.slice(0, at) })
            cut = { ...part, text: part.text.slice(at) }
            passed += at
            continue
          }
        }
        taken.push(part)
        passed += length
        next += 1
      }
      return taken
    },
    skipBreak() {
      if (cut?.text.startsWith(PARAGRAPH_BREAK) !== true) return
      cut = { ...cut, text: cut.text.slice(PARAGRAPH_BREAK.length) }
      passed += PARAGRAPH_BREAK.length
    },
    rest: () => (cut === null ? said.slice(next) : [cut, ...said.slice(next + 1)]),
  }
}

/** Moves a cut out of a surrogate pair; the place may be off because a client may have changed the text. */
const characterEnd = (text: string, at: number): number => ((text.codePointAt(at - 1) ?? 0) > 0xffff ? at + 1 : at)
