import { NO_COST } from '../../canonical/cost.ts'
import type { Call } from '../../canonical/call.ts'
import { inputTokens } from '../../canonical/usage.ts'
import { embeddingsAnswer, embeddingsRequest } from '../../contract/embeddings.ts'
import { validate } from '../../contract/validate.ts'
import { GatewayError } from '../../errors.ts'
import type { RunEmbeddings } from '../../inference/run-embeddings.ts'
import type { Run } from '../../inference/run.ts'
import { callerOf } from '../../keys/keys.ts'
import { JsonBody, readJsonObject } from '../../lib/json-body.ts'
import { dollars } from '../../lib/money.ts'
import type { InferenceAnswering } from '../answer-inference.ts'
import { asPublicError, errorHeaders } from '../error-boundary.ts'
import { jsonResponse, jsonText } from '../json-response.ts'
import type { ScreenCall } from '../screen-call.ts'
import { type DefaultsOf, withDefaults } from '../workspace-defaults.ts'
import { principalOf, type Route, type RouteRequest } from '../route.ts'

interface EmbeddingsParts {
  readonly runEmbeddings: RunEmbeddings
  readonly screenCall: ScreenCall
  readonly management: { readonly workspaces: { readonly defaults: DefaultsOf } }
  readonly answering: Pick<InferenceAnswering, 'admit' | 'customerKeys'>
}

/** Embeddings pass through: vectors are neither parsed nor written again (docs/contract/models.md#embeddings). */
export const embeddingsRoute = ({ runEmbeddings, screenCall, management, answering }: EmbeddingsParts): Route => ({
  method: 'POST',
  path: '/embeddings',
  operation: 'createEmbeddings',
  summary: 'Turn text into vectors',
  tag: 'Inference',
  policy: 'inference',
  surface: 'chat',
  body: embeddingsRequest,
  answers: { 200: { description: 'The vectors.', schema: embeddingsAnswer } },
  errors: [402, 404, 422, 429, 502, 503, 504],
  async handle(request) {
    const text = await request.text()
    const { model, user, session_id } = validate(embeddingsRequest, readJsonObject(text))
    const principal = principalOf(request)
    const callOf = (body: JsonBody): Call => embeddingsCall(body, model, user ?? null, session_id ?? null)
    const sent = JsonBody.ofParsed(text)
    const defaults = await management.workspaces.defaults(principal.workspaceId)
    const screened = await screenCall(callOf(defaults === null ? sent : withDefaults(sent, defaults)), principal, callOf)
    const { run, answer } = runEmbeddings({
      customerKeys: await answering.customerKeys(principal),
      ...(request.pass === null ? {} : { pass: request.pass }),
      ...screened,
      apiType: 'embeddings',
      requested: model,
      preset: null,
      warnings: [],
      strict: principal.strict,
      caller: callerOf(principal),
      requestId: request.requestId,
      userAgent: request.headers.get('user-agent'),
      referer: request.headers.get('http-referer') ?? request.headers.get('referer'),
    })
    await answering.admit(run)
    request.pass?.handOver()
    request.signal.addEventListener('abort', () => run.connection.leave(), { once: true })
    if (request.signal.aborted) run.connection.leave()
    return answered(run, answer, request)
  },
})

/** A failure has its real status: there is no stream whose headers could have gone before it, and no partial answer. */
const answered = async (run: Run, answer: () => Promise<JsonBody>, request: RouteRequest): Promise<Response> => {
  const headers = { 'x-generation-id': run.generationId, 'x-request-id': request.requestId }
  try {
    const body = await answer()
    const { usage, cost } = run.bill
    const { current } = run.log
    const told = {
      prompt_tokens: inputTokens(usage),
      total_tokens: inputTokens(usage),
      cost: dollars(cost.totalNanos ?? NO_COST.totalNanos ?? 0),
    }
    return jsonText(
      body.textWith({
        id: JSON.stringify(run.generationId),
        model: JSON.stringify(current?.planned.model.id ?? run.request.requested),
        provider: JSON.stringify(current?.planned.endpoint.provider.name ?? null),
        usage: JSON.stringify(told),
      }),
      { headers },
    )
  } catch (thrown) {
    const error = asPublicError(thrown)
    const shown = { code: error.status, message: error.publicMessage, metadata: error.publicMetadata }
    return jsonResponse({ id: run.generationId, error: shown }, { status: error.status, headers: { ...headers, ...errorHeaders(error) } })
  }
}

const embeddingsCall = (body: JsonBody, model: string, user: string | null, sessionId: string | null): Call => ({
  dialect: 'chat',
  body,
  models: [model],
  stream: false,
  maxOutputTokens: null,
  sessionId,
  user,
  passHeaders: {},
  prompt: () => {
    throw new GatewayError('server', undefined, { cause: new TypeError('Embeddings have no prompt.') })
  },
})
