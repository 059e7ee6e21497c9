/** A message of the assistant in the order in which the model gave it, as far as its thinking says where it stood (decisions/0121). */
import { PARAGRAPH_BREAK } from '../../canonical/event.ts'
import type { PlaceOfThought } from '../../canonical/place-of-thought.ts'
import type { Part } from '../../canonical/prompt.ts'
import type { Thought } from './read-reasoning.ts'

type Text = Extract<Part, { type: 'text' }>

/**
 * Thinking without a place follows the thinking before it, and comes first where there is none. Places beyond the end, as of a
 * text that the client shortened, are the end.
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

/** Its makers' messages stand apart without the break that this service puts between them. Claude's texts may begin with one of their own. */
const isOpenAiThinking = (part: Part): boolean => part.type === 'reasoning' && part.proof?.format === 'openai-responses-v1'

/** Behind all words, and before all calls of the client's. */
export const BEHIND_WORDS: PlaceOfThought = { text: Number.POSITIVE_INFINITY, calls: 0 }

interface Words {
  /** The words before the place that were not taken yet. */
  before(place: PlaceOfThought): Part[]
  /** Passes over the break with which the rest of a text that was cut begins. */
  skipBreak(): void
  rest(): readonly Part[]
}

const wordsOf = (said: readonly Part[]): Words => {
  let next = 0
  /** The end of a text that was cut. */
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

/** A character of two units is not cut: a client may have changed the text. */
const characterEnd = (text: string, at: number): number => ((text.codePointAt(at - 1) ?? 0) > 0xffff ? at + 1 : at)
