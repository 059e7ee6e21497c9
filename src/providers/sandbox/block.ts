/** A piece of an answer as a sandbox model has it to say, before it is cut into tokens. */
export type Block =
  | { readonly type: 'text' | 'reasoning' | 'refusal'; readonly text: string }
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; readonly json: string }
