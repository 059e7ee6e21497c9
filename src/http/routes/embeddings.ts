import type { Frame } from '../../canonical/event.ts'
import { embeddingsAnswer } from '../../contract/embeddings.ts'
import { embeddingsFormat as format } from '../../formats/embeddings.ts'
import { answerHead, answerTail } from '../../inference/answer-head.ts'
import type { Pipeline } from '../../inference/pipeline.ts'
import { Refused } from '../../inference/refused.ts'
import { embeddingsRequest } from '../../request-fields/schemas/embeddings.ts'
import { answerDryRun } from '../inference/answer-dry-run.ts'
import { answerHeaders } from '../inference/answer-headers.ts'
import { errorHeaders } from '../error-boundary.ts'
import { jsonText } from '../response/json-response.ts'
import { leaveWith } from '../inference/leave-with.ts'
import { commonHeaders, metadataField, wantsDryRun } from '../inference/opt-ins.ts'
import { receivedOf } from '../inference/received.ts'
import { failureTail, refusal } from '../inference/refusal.ts'
import type { Route } from '../route.ts'

export const embeddingsRoute = (pipeline: Pick<Pipeline, 'admit' | 'answer' | 'dryRun' | 'turn'>): Route => ({
  method: 'POST',
  path: '/embeddings',
  operation: 'createEmbeddings',
  summary: 'Turn text into vectors',
  tag: 'Inference',
  policy: 'inference',
  surface: 'chat',
  headers: commonHeaders,
  body: embeddingsRequest,
  answers: { 200: { description: 'The vectors.', schema: embeddingsAnswer } },
  errors: [402, 404, 408, 412, 422, 429, 502, 503, 504],
  async handle(request) {
    const received = receivedOf(request, 'embeddings', format, await request.json())
    if (wantsDryRun(request.headers)) return answerDryRun(received, format, request.headers, pipeline)
    const admitted = await pipeline.admit(received)
    if (admitted instanceof Refused) return refusal(admitted, format, request.headers)
    leaveWith(request.signal, admitted)
    const frames: Frame[] = []
    const error = await pipeline.answer(admitted, (batch) => void frames.push(...batch))
    const headers = answerHeaders(admitted)
    const head = answerHead(admitted)
    const field = metadataField(request.headers)
    const [answer] = frames
    if (error === null) return jsonText(format.renderAnswer(head, answer ?? { events: [] }, answerTail(admitted, field)), { headers })
    // A failure has its real status: no stream headers were sent before it, and there is no partial answer.
    const { body } = format.renderError(error, head, failureTail(admitted, error, field))
    return jsonText(body, { status: error.status, headers: { ...headers, ...errorHeaders(error) } })
  },
})
