import type { ClientDialect } from '../../canonical/call.ts'

/** The field in which each interface asks for a form of the answer, for warnings about it. */
export const FORMAT_FIELDS: Readonly<Record<ClientDialect, string>> = {
  chat: 'response_format',
  responses: 'text.format',
  messages: 'output_config.format',
}
