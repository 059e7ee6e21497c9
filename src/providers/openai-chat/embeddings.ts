/** Embeddings are passed through to providers that have them. All use the same format, so nothing is translated. */
import { withoutUnsentFields } from '../../request-fields/service-fields.ts'
import type { Usage } from '../../canonical/usage.ts'
import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json/json.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { JsonTextError } from '../../lib/json/json-limits.ts'
import { atOnce, inTurns } from '../../lib/steps.ts'
import { unusable } from '../failures/classify-failure.ts'
import { fieldsOfBody } from '../vendors/editable-fields.ts'
import { shortenIdentifiers } from '../vendors/field-rules.ts'
import { postJson } from '../transport/json-post.ts'
import { holdsError } from '../failures/failure-words.ts'
import type { Attempt, ProviderAdapter, ProviderContext, Target } from '../provider.ts'
import { vendorOf } from '../vendors/vendors.ts'
import { addressOf, keyHeader } from './address.ts'
import { decodeUsage } from './decode-usage.ts'
import { chatFailure } from './errors.ts'
import { packedVectors } from './packed-vectors.ts'

/** Room for two thousand vectors of three thousand numbers as JSON text. */
const BODY_MAX = 256 * 1024 * 1024

/** Says whether the provider has embeddings, as far as is known. */
export const hasEmbeddings = ({ provider }: Pick<Target, 'provider'>): boolean => vendorOf(provider).embeddings !== null

/**
 * Passes on the answer in one frame: the provider's own text, with vectors in base64 if the client asked for it, and the usage that it
 * reports. Throws `unprocessable` if the provider has no embeddings.
 */
export const embeddings: ProviderAdapter = async (attempt, context, take) => {
  const { body, usage } = await post(attempt, context)
  await take([{ events: [{ type: 'usage', usage }], native: { dialect: 'chat', json: body.text, body } }])
}

interface Embeddings {
  readonly body: JsonBody
  readonly usage: Usage
}

const post = async (attempt: Attempt, context: ProviderContext): Promise<Embeddings> => {
  const { target } = attempt
  const response = await postJson(
    {
      url: addressOf(target, '/embeddings'),
      headers: keyHeader(target),
      body: requestBody(attempt),
      stream: false,
      failure: chatFailure,
    },
    attempt,
    context,
  )
  const answer = readAnswer(await response.text(BODY_MAX), target)
  return attempt.call.body.value('encoding_format') === 'base64' ? packedAnswer(answer, context) : answer
}

const requestBody = ({ call: { body }, target, warn }: Attempt): string | Uint8Array<ArrayBuffer> => {
  const { embeddings: words, identifierMax } = vendorOf(target.provider)
  if (words === null) throw new GatewayError('unprocessable', `${target.providerName} has no embeddings.`)
  const changes: Record<string, string | null> = { ...withoutUnsentFields(body), model: JSON.stringify(target.upstreamModel) }
  for (const field of body.keys) {
    const name = words.names[field]
    const raw = name === undefined ? undefined : body.raw(field)
    if (name !== undefined && raw !== undefined) {
      changes[field] = null
      changes[name] = raw
    }
    if (!SOME_ACCEPT.has(field) || words.accepts.has(field)) continue
    changes[field] = null
    if (body.value(field) !== undefined)
      warn({ code: 'unsupported_field', field, message: `${target.providerName} does not take ${field}; it was left out.` })
  }
  const fields = fieldsOfBody(body, changes)
  shortenIdentifiers(fields, identifierMax)
  return body.wireWith(atOnce(fields.written()))
}

/** Fields of the interface that not every vendor accepts. */
const SOME_ACCEPT: ReadonlySet<string> = new Set(['dimensions', 'encoding_format', 'input_type', 'user'])

const packedAnswer = async (answer: Embeddings, { turn }: ProviderContext): Promise<Embeddings> => {
  const data = await inTurns(packedVectors(answer.body.raw('data') ?? ''), turn ?? noTurn)
  return { ...answer, body: JsonBody.ofParsed(answer.body.textWith({ data })) }
}

const noTurn = (): undefined => undefined

/** The vectors stay text: only the members beside them are parsed. */
const readAnswer = (text: string, target: Target): Embeddings => {
  const body = scan(text, target)
  if (holdsError({ error: body.value('error'), base_resp: body.value('base_resp') })) throw chatFailure(200, text, target)
  if (body.raw('data')?.startsWith('[') !== true) throw unusable(target, 'answered without any embeddings.')
  const usage = body.value('usage')
  return { body, usage: decodeUsage(isObject(usage) ? usage : {}) }
}

const scan = (text: string, target: Target): JsonBody => {
  try {
    return JsonBody.ofScanned(text)
  } catch (cause) {
    if (cause instanceof JsonTextError) throw unusable(target, 'answered with something that is not JSON.', cause)
    throw cause
  }
}
