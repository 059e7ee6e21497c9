/** A part of a sandbox model's answer, before it is cut into tokens. */
export type Block =
  | { readonly type: 'text' | 'reasoning' | 'refusal'; readonly text: string }
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; readonly json: string }
