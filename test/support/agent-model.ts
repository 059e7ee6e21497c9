/** A scripted agent model in one dialect: what it streams, and how it reads the history in a request. */
import { type ScriptedTurn, type ReportedTurn, TURNS } from './agent-script.ts'

/** A message, an item, a block or a part of any of the four dialects, with the members that the script reads. */
export interface Reported {
  readonly type?: string
  readonly role?: string
  readonly id?: string
  readonly status?: string
  readonly name?: string
  readonly text?: string
  readonly content?: string | readonly Reported[]
  readonly parts?: readonly Reported[]
  // Messages
  readonly thinking?: string
  readonly signature?: string
  readonly data?: string
  readonly input?: unknown
  readonly tool_use_id?: string
  // Chat
  readonly tool_calls?: readonly Reported[]
  readonly function?: { readonly name: string; readonly arguments: string }
  readonly tool_call_id?: string
  // Responses
  readonly call_id?: string
  readonly arguments?: string
  readonly output?: string | readonly Reported[]
  readonly encrypted_content?: string | null
  readonly summary?: readonly Reported[]
  // Google
  readonly thought?: boolean
  readonly thoughtSignature?: string
  readonly functionCall?: { readonly name: string; readonly args?: unknown }
  readonly functionResponse?: { readonly name: string; readonly response?: unknown }
}

/** A request body of any dialect. */
export interface AgentRequest {
  readonly messages?: readonly Reported[]
  readonly contents?: readonly Reported[]
  readonly input?: string | readonly Reported[]
  readonly thinking?: { readonly type?: string }
}

export interface AgentModel {
  /** The events of a turn. */
  payloads(turn: number): readonly unknown[]
  /** The earlier turns, as the request reports them, with a fault if they are not a valid history of the dialect. */
  read(body: AgentRequest): { readonly reported: readonly ReportedTurn[]; readonly faults: string[] }
}

export const turnOf = (number: number): ScriptedTurn => TURNS[number] ?? { thinking: '', text: '', calls: [] }
export const emptyTurn = (): ReportedTurn => ({ text: '', proofs: [], calls: [], results: [] })
export const textsOf = (content: string | readonly Reported[] | undefined): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('')
export const halves = (text: string): [string, string] => [text.slice(0, text.length >> 1), text.slice(text.length >> 1)]
