/** Unwraps calls of withheld tools in a turn of the model: calls that match their schemas become ordinary calls of the client's tools. */
import type { Frame } from '../../canonical/event.ts'
import type { Warning } from '../../canonical/warning.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import type { DeferredTools } from '../../tools/deferred/deferred-tools.ts'
import { plainJson } from '../../tools/deferred/replayed-calls.ts'
import { type RefusedCall, type UnwrappedCall, wrappedArguments } from '../../tools/deferred/wrapped-call.ts'
import { CALL_WRAPPER, SEARCH_WRAPPER } from '../../tools/deferred/wrappers.ts'
import type { ToolResult } from '../../tools/tool.ts'
import type { LoopReport } from './loop-report.ts'
import type { ModelTurn, ModelCall } from './model-turn.ts'

export interface UnwrappedCalls {
  /** Frames for the client: each call in one piece, because it could be checked only when it was complete. */
  readonly frames: readonly Frame[]
  /** The result that the model gets for each call that is not passed on. */
  readonly refusals: ReadonlyMap<ModelCall, ToolResult>
}

/**
 * A call that goes to the client ends the turn, so no model would read why other calls of the turn were refused: those are left out with a
 * warning.
 */
export const unwrapCalls = (
  turn: ModelTurn,
  { unwrap, catalogue }: Pick<DeferredTools, 'unwrap' | 'catalogue'>,
  report: Pick<LoopReport, 'called'>,
  warn: (warning: Warning) => void,
): UnwrappedCalls => {
  const frames: Frame[] = []
  const refused: { readonly said: ModelCall; readonly call: RefusedCall }[] = []
  for (const said of turn.serverCalls.slice()) {
    // Normalised as a replay gives it to the model, regardless of the model's white space.
    if (said.name === SEARCH_WRAPPER) said.arguments = plainJson(said.arguments)
    if (catalogue.byName.has(said.name)) {
      said.arguments = wrappedArguments(said.name, said.arguments)
      said.name = CALL_WRAPPER
    }
    if (said.name !== CALL_WRAPPER) continue
    const call = unwrap(said.arguments)
    if (call.name !== null) report.called.add(call.name)
    if ('refusal' in call) refused.push({ said, call })
    else {
      frames.push(turn.passOn(said, call))
      for (const what of call.unchecked) warn(uncheckedWarning(call, what))
    }
  }
  if (turn.clientCalls === 0) return { frames, refusals: new Map(refused.map(({ said, call }) => [said, call.refusal])) }
  for (const { said, call } of refused) {
    turn.leaveOut(said)
    warn(leftOut(call))
  }
  return { frames, refusals: new Map() }
}

const uncheckedWarning = ({ name }: UnwrappedCall, what: string): Warning => ({
  code: 'unsupported_field',
  field: 'tools',
  message: `The arguments of ${cutText(name, 100)} were not checked for all of its schema: ${what}.`,
})

const leftOut = ({ name, refusal }: RefusedCall): Warning => ({
  code: 'invalid_tool_call',
  field: 'tools',
  message: `A call${name === null ? '' : ` of ${cutText(name, 100)}`} was left out beside calls that are valid: ${refusal.fault?.message ?? ''}`,
})
