/** Moves what a model does not take in the result of a tool behind it, and what it does not take beside one into a turn of its own. */
import type { Message, Part } from '../../canonical/prompt.ts'
import { mediaOfResult } from '../../canonical/result-pieces.ts'
import { introduced, type ToolNames, withWords } from '../media/tool-media.ts'
import type { Turn as AnyTurn } from '../roles/turns.ts'
import type { EncodeContext } from './encode-context.ts'
import type { Block } from './encode-parts.ts'

type Turn = AnyTurn<Block>

/** Returns the messages with such media behind the results that held them, introduced by the name of the tool. */
export const withMediaBehind = (messages: readonly Message[], { facts: { resultMedia } }: EncodeContext): readonly Message[] => {
  const goesBehind = (part: Part): boolean => !resultMedia.has(kindOf(part))
  if (!messages.some(({ parts }) => parts.some((part) => part.type === 'tool-result' && mediaOfResult(part).some(goesBehind))))
    return messages
  const names = namesIn(messages)
  return messages.map((message) => ({
    ...message,
    parts: message.parts.flatMap((part): readonly Part[] => {
      const behind = part.type === 'tool-result' ? mediaOfResult(part).filter(goesBehind) : []
      if (part.type !== 'tool-result' || behind.length === 0) return [part]
      const inside = (part.pieces ?? []).filter((piece) => piece.type === 'text' || !goesBehind(piece))
      return [{ ...withWords(part, names), pieces: inside }, { type: 'text', text: introduced(names.get(part.callId)) }, ...behind]
    }),
  }))
}

const namesIn = (messages: readonly Message[]): ToolNames =>
  new Map(messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-call' ? [[part.id, part.name] as const] : []))))

/** A picture may come as a file too. */
const kindOf = (part: Part): string => {
  if (part.type !== 'file') return part.type
  return part.url.startsWith('data:image/') ? 'image' : 'document'
}

/** Returns the turns in which results stand only beside what the model takes there. */
export const withResultsApart = (turns: readonly Turn[], context: EncodeContext, complete: (turn: Turn) => Turn): readonly Turn[] =>
  context.facts.besideResults === 'anything'
    ? turns
    : turns.flatMap((turn): readonly Turn[] => {
        const results = turn.blocks.filter(({ type }) => type === 'toolResult')
        const others = turn.blocks.slice(results.length)
        if (results.length === 0 || !others.some((block) => isRefused(block, context))) return [turn]
        context.mapped(
          turn.at,
          `${context.target.upstreamModel} takes not all of this beside a tool’s result; a short turn of the assistant was put between them.`,
        )
        return [
          { ...turn, blocks: results },
          { role: 'assistant', blocks: [{ type: 'text', json: '{"text":"OK"}' }], at: turn.at },
          complete({ ...turn, blocks: others }),
        ]
      })

const isRefused = ({ type, json }: Block, { facts }: EncodeContext): boolean =>
  facts.besideResults === 'nothing' || (type === 'document' && !json.startsWith('{"document":{"format":"pdf"'))
