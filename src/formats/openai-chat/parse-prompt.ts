/** Parses a Chat Completions body into the canonical prompt (docs/contract/chat-completions.md#request). */
import type { Prompt } from '../../canonical/prompt.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'
import { bodyNode, child, member, type Node, nodesAt, optionalText, requiredText, requiredWord } from '../json-node.ts'
import { readOutputFormat } from '../openai-output-format.ts'
import { otherFields } from '../other-fields.ts'
import { joinTurns, type Piece, readContent, toolResult } from '../prompt-reader.ts'
import { withReplayedTurns } from '../replayed-calls.ts'
import { CHAT_ROLES } from '../roles.ts'
import { startUnreadMembers } from '../unread-members.ts'
import { readOpenAiTools } from '../tool-reader.ts'
import { CONTENT_PARTS } from './content-parts.ts'
import { readAssistant } from './read-assistant.ts'
import { readChatSettings } from './read-settings.ts'

/** Throws `invalid_prompt` naming the faulty message, or `invalid_request` for a fault outside the messages. */
export function* parsePrompt(body: JsonBody): Steps<Prompt> {
  const root = bodyNode(body)
  const unread = startUnreadMembers('chat')
  const pieces = yield* mapInSteps(nodesAt(member(root, 'messages'), 'messages'), (message) => unread.reading(message, readMessage))
  yield
  const turns = joinTurns(pieces)
  yield
  const tools = yield* readOpenAiTools(root, child)
  yield
  const prompt = {
    messages: withReplayedTurns(turns),
    ...tools,
    outputFormat: readOutputFormat(root, 'response_format', (format) => child(format, 'json_schema')),
    settings: readChatSettings(root),
  }
  yield
  return { ...prompt, otherFields: otherFields('chat', root, unread.paths) }
}

const readMessage = (message: Node): Piece => {
  const word = requiredWord(message, 'role', CHAT_ROLES)
  const name = optionalText(message, 'name')
  const { role, parts, open } = MESSAGES[word](message)
  // A result's name is that of the tool, which its call has already.
  return name === null || word === 'tool' ? { role, parts, open, at: message.path } : { role, parts, open, at: message.path, name }
}

const contentMessage =
  (role: Piece['role']) =>
  (message: Node): Piece => ({ role, parts: readContent(message, 'content', CONTENT_PARTS), open: false })

const MESSAGES: Readonly<Record<(typeof CHAT_ROLES)[number], (message: Node) => Piece>> = {
  system: contentMessage('system'),
  developer: contentMessage('developer'),
  user: contentMessage('user'),
  assistant: (message) => ({ role: 'assistant', parts: readAssistant(message), open: false }),
  tool: (message) => ({
    role: 'user',
    parts: toolResult(
      requiredText(message, 'tool_call_id'),
      // A tool that returned nothing.
      message.members['content'] === null ? [] : readContent(message, 'content', CONTENT_PARTS),
    ),
    open: true,
  }),
}
