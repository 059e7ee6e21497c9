/** The formats that clients speak. */
import type { ClientDialect } from '../canonical/call.ts'
import { messagesFormat } from './anthropic-messages/anthropic-messages.ts'
import type { ClientFormat } from './format.ts'
import { chatFormat } from './openai-chat/openai-chat.ts'
import { responsesFormat } from './openai-responses/openai-responses.ts'

export type Formats = Readonly<Record<ClientDialect, ClientFormat>>

export const FORMATS: Formats = { chat: chatFormat, responses: responsesFormat, messages: messagesFormat }
