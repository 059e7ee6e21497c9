import type { Frame } from '../../canonical/event.ts'
import { embeddingsAnswer } from '../../contract/embeddings.ts'
import { embeddingsFormat as format } from '../../formats/embeddings.ts'
import { answerHead, answerTail } from '../../inference/answer-head.ts'
import type { Pipeline } from '../../inference/pipeline.ts'
import { Refused } from '../../inference/refused.ts'
import { embeddingsRequest } from '../../request-fields/schemas/embeddings.ts'
import { answerHeaders } from '../answer-headers.ts'
import { errorHeaders } from '../error-boundary.ts'
import { jsonInTurns, jsonText } from '../json-response.ts'
import { leaveWith } from '../leave-with.ts'
import { commonHeaders, wantsDryRun } from '../opt-ins.ts'
import { receivedOf } from '../received.ts'
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
    if (wantsDryRun(request.headers)) {
      const shown = await pipeline.dryRun(received)
      if (shown instanceof Refused) throw shown.error
      return jsonInTurns(shown, pipeline.turn)
    }
    const admitted = await pipeline.admit(received)
    if (admitted instanceof Refused) throw admitted.error
    leaveWith(request.signal, admitted)
    const frames: Frame[] = []
    const error = await pipeline.answer(admitted, (batch) => void frames.push(...batch))
    const headers = answerHeaders(admitted)
    const head = answerHead(admitted)
    const [answer] = frames
    // A failure has its real status: no stream headers were sent before it, and there is no partial answer.
    if (error !== null)
      return jsonText(format.renderError(error, head), { status: error.status, headers: { ...headers, ...errorHeaders(error) } })
    return jsonText(format.renderAnswer(head, answer ?? { events: [] }, answerTail(admitted, null)), { headers })
  },
})
