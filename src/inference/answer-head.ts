/** The facts that go around an answer: those at its beginning and those at its end. */
import type { AnswerHead, AnswerTail } from '../formats/format.ts'
import type { Admitted } from './admitted.ts'
import { serverToolUse } from './loop/tool-figures.ts'
import { routingMetadata } from './routing-metadata.ts'

/** Call it when the answer begins: who answers, and what the attempt's translation lost, is known by then. */
export const answerHead = ({ request, log, generationId, createdMs, hit, keepText }: Admitted): AnswerHead => {
  const { call, hidden, requested } = request
  const { current, echoes } = log
  return {
    generationId,
    createdSeconds: Math.floor(createdMs / 1000),
    model: current?.planned.model.id ?? hit?.answer.model ?? call.models[0] ?? requested,
    provider: current?.planned.endpoint.provider.name ?? hit?.answer.provider ?? null,
    request: call.body,
    legacyFunctions: call.legacyFunctions,
    instructions: hidden?.ownInstructions,
    hidden,
    // Few answers state the estimate, and computing it means reading the whole request.
    get inputTokensEstimate() {
      return hit === null ? log.inputTokensEstimate : 0
    },
    echoes: echoes.length === 0 ? undefined : echoes,
    keep: keepText,
  }
}

/** `metadataField`: the name under which the client asked for the routing metadata; null if it did not ask. */
export const answerTail = (admitted: Admitted, metadataField: NonNullable<AnswerTail['metadata']>['field'] | null): AnswerTail => {
  const { bill, log, createdMs, loop, hit, judge } = admitted
  const alignment = judge?.report ?? hit?.answer.alignment
  const serverTools = serverToolUse(loop)
  return {
    usage: bill.usage,
    cost: bill.cost,
    serverTools,
    iterations: serverTools === undefined ? undefined : admitted.iterations,
    endedSeconds: Math.floor((createdMs + log.durationMs) / 1000),
    // A cached answer was routed for another request.
    metadata: metadataField === null || hit !== null ? null : { field: metadataField, value: routingMetadata(admitted) },
    alignment,
  }
}
