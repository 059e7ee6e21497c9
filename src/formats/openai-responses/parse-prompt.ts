/** A Responses body in the language of the middle. Sources: contract 2.3, 2.6 and 2.7. */
import type { Message, OutputFormat, Prompt } from '../../canonical/prompt.ts'
import type { JsonBody } from '../../lib/json-body.ts'
import {
  bodyNode,
  disown,
  malformed,
  member,
  type Node,
  nodesAt,
  optionalChild,
  optionalFlag,
  optionalText,
  requiredText,
} from '../json-node.ts'
import { otherFields } from '../other-fields.ts'
import { joinTurns } from '../prompt-reader.ts'
import { readOpenAiTools } from '../tool-reader.ts'
import { readItem } from './read-item.ts'
import { readResponsesSettings } from './read-settings.ts'

/** Throws `invalid_prompt` naming the input item at fault, `invalid_request` for what goes with the input. */
export const parsePrompt = (body: JsonBody): Prompt => {
  const root = bodyNode(body)
  const text = optionalChild(root, 'text')
  const prompt = {
    messages: [...readInstructions(member(root, 'instructions')), ...readInput(member(root, 'input'))],
    ...readOpenAiTools(root, (node) => node),
    outputFormat: readOutputFormat(text),
    settings: readResponsesSettings(root, text),
  }
  return { ...prompt, otherFields: otherFields('responses', root) }
}

const readInstructions = (value: unknown): Message[] => {
  if (value === undefined) return []
  if (typeof value !== 'string') throw malformed('invalid_prompt', 'instructions', 'must be a string')
  return [{ role: 'system', parts: [{ type: 'text', text: value }], at: 'instructions' }]
}

const readInput = (value: unknown): Message[] =>
  typeof value === 'string'
    ? [{ role: 'user', parts: [{ type: 'text', text: value }], at: 'input' }]
    : joinTurns(nodesAt(value, 'input', 'invalid_prompt').map(readItem))

const readOutputFormat = (text: Node | null): OutputFormat => {
  const format = text === null ? null : optionalChild(text, 'format')
  if (text === null || format === null) return { type: 'text' }
  const type = requiredText(format, 'type')
  if (type === 'json_object') return { type: 'json' }
  if (type === 'json_schema') {
    const strict = optionalFlag(format, 'strict')
    const description = optionalText(format, 'description')
    return {
      type: 'json-schema',
      name: optionalText(format, 'name') ?? 'response',
      schema: member(format, 'schema') ?? {},
      ...(strict === null ? {} : { strict }),
      ...(description === null ? {} : { description }),
    }
  }
  if (type !== 'text') disown(text, 'format')
  return { type: 'text' }
}
