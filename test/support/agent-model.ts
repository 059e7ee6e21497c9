/** What an agent model is in a dialect: what it streams, and how it reads its own history. */
import { type ScriptedTurn, type ToldTurn, TURNS } from './agent-script.ts'

// Bodies of four dialects, read as far as the script goes.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any

export interface AgentModel {
  /** The events of a turn. */
  payloads(turn: number): readonly unknown[]
  /** The turns before, as the request tells them; a fault where it is no history of that dialect. */
  read(body: Json): { readonly told: readonly ToldTurn[]; readonly faults: string[] }
}

export const turnOf = (number: number): ScriptedTurn => TURNS[number] ?? { thinking: '', text: '', calls: [] }
export const emptyTurn = (): ToldTurn => ({ text: '', proofs: [], calls: [], results: [] })
export const textsOf = (content: Json): string =>
  typeof content === 'string' ? content : (content ?? []).map((part: Json) => part.text ?? '').join('')
export const halves = (text: string): [string, string] => [text.slice(0, text.length >> 1), text.slice(text.length >> 1)]
