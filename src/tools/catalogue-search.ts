/**
 * Searches a catalogue of tools by words (BM25) or by a pattern. The same catalogue and query always give the same result, so that
 * a conversation can be replayed; the time is proportional to the size of the catalogue, even of a hostile one.
 */
import { isObject } from '../lib/json/json.ts'
import { createRegex } from '../lib/regex/finder.ts'
import { matches } from '../lib/regex/matches.ts'
import { spend, type Work } from '../lib/work.ts'

/** The searched members of a tool. */
export interface Entry {
  readonly name: string
  readonly description: string | null
  /** JSON Schema of the arguments. */
  readonly parameters: unknown
}

/** Both searches throw TooMuchWork. */
export interface CatalogueSearch<Tool extends Entry> {
  /** Best first; ties keep the order of the catalogue. */
  byWords(query: string, most: number, work: Work): readonly Tool[]
  /** In the order of the catalogue. Throws RegexRefused for an invalid pattern, or one that cannot run in linear time. */
  byPattern(pattern: string, most: number, work: Work): readonly Tool[]
}

/** The weight of a word by the field that it occurs in. */
const NAME_WEIGHT = 3
const DESCRIPTION_WEIGHT = 2
const ARGUMENT_WEIGHT = 1

/** BM25 parameters: saturation of repeated words, and influence of the length. */
const K1 = 1.2
const B = 0.75

/** Steps of work per tool that contains a word of the query. */
const POSTING_STEPS = 20

export const createCatalogueSearch = <Tool extends Entry>(tools: readonly Tool[]): CatalogueSearch<Tool> => {
  /** By word: its weight in each tool that contains it. */
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

/** Names and descriptions of the arguments of the outermost object only: deeper ones say little about the tool's purpose. */
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
