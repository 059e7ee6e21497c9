/** POST /providers/{slug}/test: asks a provider for one token, as a request would, and reports the result. */
import { z } from 'zod'

import { providerSlug, providerTest, providerTestBody } from '../../contract/provider-test.ts'
import { validate } from '../../contract/validate.ts'
import { GatewayError } from '../../errors.ts'
import type { MakeRequest } from '../../inference/own-request.ts'
import type { Keys } from '../../keys/keys.ts'
import type { Clock } from '../../lib/clock.ts'
import { readOptionalObject } from '../../lib/json/json-body.ts'
import { dollars } from '../../lib/money.ts'
import { nearestHint } from '../../lib/text/nearest-name.ts'
import { createRateMeter } from '../../limits/gcra.ts'
import type { Model, ModelEndpoint } from '../../models/model.ts'
import type { Models } from '../../models/models.ts'
import { jsonResponse } from '../response/json-response.ts'
import { payerOf } from '../payer.ts'
import { reachOf, type Route } from '../route.ts'

export interface ProviderTestParts {
  readonly models: Models
  readonly makeRequest: MakeRequest
  readonly keys: Pick<Keys, 'payer' | 'playground'>
  readonly clock: Clock
}

const WITHIN_MS = 10_000
/** For each provider and workspace. */
const RATE = { limit: 6, perMs: 60_000 }
const NAMES_MAX = 1000

export const providerTestCreate = ({ models, makeRequest, keys, clock }: ProviderTestParts): Route => {
  const meter = createRateMeter(NAMES_MAX)
  return {
    method: 'POST',
    path: '/providers/:slug/test',
    operation: 'testProvider',
    summary: 'Ask a provider for one token',
    tag: 'Models',
    policy: 'management',
    isCharged: true,
    surface: 'management',
    params: { slug: providerSlug },
    body: providerTestBody,
    answers: { 200: { description: 'The outcome, including a failure of the provider.', schema: z.object({ data: providerTest }) } },
    errors: [404, 429],
    async handle(request) {
      const slug = validate(providerSlug, request.params['slug'], ['slug'])
      const { model: named, key } = validate(providerTestBody, readOptionalObject(await request.text()))
      const model = modelFor(models, slug, named)
      const payer = await payerOf(request, keys, key)
      const { allowed, retryAfterMs } = meter.take(`${reachOf(request).workspaceId} ${slug}`, 1, RATE, clock.monotonicMs())
      if (!allowed) {
        throw new GatewayError('rate_limit_exceeded', `A provider is tested at most ${RATE.limit} times a minute.`, {
          retryAfterSeconds: Math.ceil(retryAfterMs / 1000),
        })
      }
      const answer = await makeRequest({
        principal: payer,
        dialect: 'chat',
        requestId: request.requestId,
        origin: 'test',
        withinMs: WITHIN_MS,
        signal: request.signal,
        body: {
          model,
          messages: [{ role: 'user', content: 'Hi' }],
          max_tokens: 1,
          stream: true,
          provider: { only: [slug], allow_fallbacks: false },
        },
      })
      const { error } = answer
      return jsonResponse({
        data: {
          ok: error === null,
          model,
          status: answer.status,
          ttft_ms: answer.ttftMs === null ? null : rounded(answer.ttftMs),
          total_ms: rounded(answer.totalMs),
          cost_usd: dollars(answer.costNanos),
          generation_id: answer.generationId,
          // A caller who may test a provider may also read its records, which contain the provider's own message.
          ...(error === null ? {} : { error: { type: error.type, message: error.message } }),
        },
      })
    },
  }
}

const rounded = (ms: number): number => Math.round(ms * 10) / 10

/** Throws `not_found` and `invalid_request`. */
const modelFor = (models: Models, slug: string, named: string | undefined): string => {
  const enabled = models.providers().map((provider) => provider.slug)
  if (!enabled.includes(slug)) {
    const variable = models.providerEnabledBy(slug)
    const reason =
      variable === null
        ? `There is no provider "${slug}".${nearestHint(enabled, slug)}`
        : `The provider "${slug}" is not enabled here. The operator can set ${variable}.`
    throw new GatewayError('not_found', reason)
  }
  if (named !== undefined) {
    if (models.find(named)?.endpoints.some(({ provider }) => provider.slug === slug) !== true) {
      throw new GatewayError('invalid_request', `model: the provider "${slug}" does not serve it.`)
    }
    return named
  }
  const [cheapest] = models
    .list()
    .flatMap((model) =>
      model.endpoints.flatMap((endpoint) => (isFit(model, endpoint, slug) ? [{ id: model.id, price: priceOf(endpoint) }] : [])),
    )
    .toSorted((one, other) => one.price - other.price || (one.id < other.id ? -1 : 1))
  if (cheapest === undefined) throw new GatewayError('invalid_request', 'model: name one, since no model of this provider is listed.')
  return cheapest.id
}

const isFit = (model: Model, { provider, serviceTier }: ModelEndpoint, slug: string): boolean =>
  provider.slug === slug && serviceTier === null && model.outputModalities.includes('text')

/** A model without a price is tried last. */
const priceOf = ({ prices }: ModelEndpoint): number =>
  prices === null ? Number.POSITIVE_INFINITY : (prices.prompt ?? 0) + (prices.completion ?? 0)
