/** Reads the settings of a preset whose place vendors' own names take in a request (decisions/0271). */
import type { ClientDialect } from '../canonical/call.ts'
import type { Settings } from '../canonical/settings.ts'
import type { JsonValue } from '../lib/json/json.ts'
import { readMessagesSettings } from './anthropic-messages/read-settings.ts'
import { type Node, nodeAt, optionalChild } from './json-node.ts'
import { readChatSettings } from './openai-chat/read-settings.ts'
import { readResponsesSettings } from './openai-responses/read-settings.ts'

/** `fields`: those of the preset, in the client's dialect. Undefined if none of them is a setting. Throws `invalid_request`. */
export const replacedSettings = (client: ClientDialect, fields: Readonly<Record<string, JsonValue>>): Settings | undefined => {
  if (Object.keys(fields).length === 0) return undefined
  const settings = READ[client](nodeAt(fields, '', 'invalid_request'))
  return Object.keys(settings).length === 0 ? undefined : settings
}

const READ: Readonly<Record<ClientDialect, (root: Node) => Settings>> = {
  chat: readChatSettings,
  responses: (root) => readResponsesSettings(root, optionalChild(root, 'text'), null),
  messages: (root) => readMessagesSettings(root, optionalChild(root, 'tool_choice'), optionalChild(root, 'output_config')),
}
