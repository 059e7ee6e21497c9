/**
 * Finds tools in a catalogue by words (BM25) or by a pattern. Both are the same for the same catalogue and query, whenever they
 * are asked, so that a conversation can be replayed; and both take time in proportion to the catalogue, even a hostile one.
 */
import { isObject } from '../lib/json.ts'
import { createRegex } from '../lib/regex/finder.ts'
import { matches } from '../lib/regex/matches.ts'
import { spend, type Work } from '../lib/work.ts'

/** A tool, as far as it is searched. */
export interface Entry {
  readonly name: string
  readonly description: string | null
  /** JSON Schema of the arguments. */
  readonly parameters: unknown
}

/** Both throw TooMuchWork. */
export interface CatalogueSearch<Tool extends Entry> {
  /** The best first; of equals the one that stands first in the catalogue. */
  byWords(query: string, most: number, work: Work): readonly Tool[]
  /** In the order of the catalogue. Throws RegexRefused for a pattern that is none, or that cannot run in linear time. */
  byPattern(pattern: string, most: number, work: Work): readonly Tool[]
}

/** How often a word counts by where it stands. */
const NAME_WEIGHT = 3
const DESCRIPTION_WEIGHT = 2
const ARGUMENT_WEIGHT = 1

/** BM25: how soon repetition stops to count, and how much length counts. */
const K1 = 1.2
const B = 0.75

/** Steps of work for a tool that has a word of the query. */
const POSTING_STEPS = 20

export const createCatalogueSearch = <Tool extends Entry>(tools: readonly Tool[]): CatalogueSearch<Tool> => {
  /** By word: how much it weighs in each tool that has it. */
  const postings = new Map<string, Map<number, number>>()
  const lengths = tools.map((tool, at) => {
    let length = 0
    for (const { text, weight } of fieldsOf(tool)) {
      for (const word of wordsOf(text)) {
        const weights = postings.get(word) ?? new Map<number, number>()
        weights.set(at, (weights.get(at) ?? 0) + weight)
        postings.set(word, weights)
        length += weight
      }
    }
    return length
  })
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length)

  return {
    byWords(query, most, work) {
      const scores = new Map<number, number>()
      for (const word of new Set(wordsOf(query))) {
        const weights = postings.get(word)
        if (weights === undefined) continue
        spend(work, POSTING_STEPS * weights.size)
        const rarity = Math.log(1 + (tools.length - weights.size + 0.5) / (weights.size + 0.5))
        for (const [at, weight] of weights) {
          const long = 1 - B + (B * (lengths[at] ?? 0)) / average
          scores.set(at, (scores.get(at) ?? 0) + (rarity * weight * (K1 + 1)) / (weight + K1 * long))
        }
      }
      return [...scores]
        .sort(([left, one], [right, other]) => other - one || left - right)
        .slice(0, most)
        .flatMap(([at]) => tools[at] ?? [])
    },
    byPattern(pattern, most, work) {
      const regex = createRegex(pattern, { ignoreCase: true })
      const found: Tool[] = []
      for (const tool of tools) {
        if (found.length === most) break
        if (fieldsOf(tool).some(({ text }) => matches(regex, text, work))) found.push(tool)
      }
      return found
    },
  }
}

interface Field {
  readonly text: string
  readonly weight: number
}

const fieldsOf = ({ name, description, parameters }: Entry): readonly Field[] => [
  { text: name, weight: NAME_WEIGHT },
  { text: description ?? '', weight: DESCRIPTION_WEIGHT },
  ...argumentsOf(parameters),
]

/** Names and descriptions of the arguments, of the outermost object alone: deeper ones say little of what a tool does. */
const argumentsOf = (parameters: unknown): readonly Field[] => {
  const properties = isObject(parameters) ? parameters['properties'] : undefined
  if (!isObject(properties)) return []
  return Object.entries(properties).flatMap(([name, schema]) => {
    const description = isObject(schema) ? schema['description'] : undefined
    return [
      { text: name, weight: ARGUMENT_WEIGHT },
      ...(typeof description === 'string' ? [{ text: description, weight: ARGUMENT_WEIGHT }] : []),
    ]
  })
}

/** `listPullRequests`, `list_pull_requests` and `list-pull.requests` have the same words. */
export const wordsOf = (text: string): readonly string[] =>
  text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []
