/** The events of a streamed answer of Messages. */
interface MessagesAnswer {
  readonly id: string
  readonly model: string
  /** As the answer begins. */
  readonly usage: Readonly<Record<string, unknown>>
  readonly blocks: readonly { readonly start: unknown; readonly deltas: readonly unknown[] }[]
  readonly stopReason: string
  readonly outputTokens: number
}

export const messagesEvents = ({ id, model, usage, blocks, stopReason, outputTokens }: MessagesAnswer): unknown[] => [
  {
    type: 'message_start',
    message: { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage },
  },
  ...blocks.flatMap(({ start, deltas }, index) => [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]),
  { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage: { output_tokens: outputTokens } },
  { type: 'message_stop' },
]
