/** Short constructors for models, endpoints and plans. */
import { FORMATS } from '../../src/formats/formats.ts'
import { createFakeClock, type FakeClock } from './fake-clock.ts'
import type { Call, ClientDialect } from '../../src/canonical/call.ts'
import { GatewayError } from '../../src/errors.ts'
import { atOnce } from '../../src/lib/steps.ts'
import { JsonBody } from '../../src/lib/json/json-body.ts'
import { createModels, plainEndpoint, type Models } from '../../src/models/models.ts'
import { createHealth, type Health } from '../../src/routing/health.ts'
import { planAttempts, type Plan, type PlanInput } from '../../src/routing/plan-attempts.ts'
import type { AttemptReport } from '../../src/routing/endpoint-health.ts'
import type { Model, ModelEndpoint, Provider } from '../../src/models/model.ts'

export const provider = (slug: string): Provider => ({
  slug,
  name: `${slug.toUpperCase()} Inc.`,
  dialects: ['openai-chat'],
  baseUrl: `https://${slug}.example/v1`,
  apiKeys: [],
  anyModel: false,
})

type Reported = Parameters<typeof plainEndpoint>[2]

/** `a` is a provider's endpoint, `a/priority` one of its variants. */
export const endpoint = (tag: string, reported: Reported = {}): ModelEndpoint =>
  plainEndpoint(provider(tag.split('/')[0] ?? tag), tag, { tag, ...reported })

/** An endpoint whose prompt and completion prices add up to `price`, in dollars per million tokens. */
export const priced = (tag: string, price: number, reported: Reported = {}): ModelEndpoint =>
  endpoint(tag, { prices: { prompt: price / 2, completion: price / 2 }, ...reported })

export const model = (id: string, endpoints: readonly ModelEndpoint[], more: Partial<Model> = {}): Model => ({
  id,
  name: id,
  created: 0,
  contextLength: null,
  inputModalities: ['text'],
  outputModalities: ['text'],
  supportedParameters: [],
  endpoints,
  ...more,
})

const SAYING = [{ role: 'user', content: 'Hi' }]

export const callOf = (fields: Record<string, unknown>, dialect: ClientDialect = 'chat'): Call =>
  atOnce(
    FORMATS[dialect].parseCall(
      JsonBody.read(JSON.stringify({ model: 'm/one', ...(dialect === 'responses' ? { input: SAYING } : { messages: SAYING }), ...fields })),
    ),
  ).call

export const newHealth = (clock: FakeClock = createFakeClock()): Health =>
  createHealth({ clock, inFlightMax: () => 100, neverEjected: new Set() })

type More = Partial<Omit<PlanInput, 'call' | 'models'>> & { readonly dialect?: ClientDialect }

/** `served`: the endpoints of `m/one`, or all models. */
export const planOf = (
  served: readonly ModelEndpoint[] | Models,
  fields: Record<string, unknown> = {},
  { dialect, ...more }: More = {},
): Plan =>
  planAttempts({
    call: callOf(fields, dialect),
    models: 'enabledBy' in served ? served : createModels([model('m/one', served)], []),
    health: newHealth(),
    account: 'workspace',
    sticky: null,
    random: () => 0,
    ...more,
  })

export const tags = ({ attempts }: Plan): string => attempts.map(({ endpoint }) => endpoint.tag).join(' ')
export const reasons = (removed: Plan['removed']): string => removed.map(({ provider, reason }) => `${provider}: ${reason}`).join(', ')

/** The error that planning throws. */
export const refusalOf = (planning: () => Plan): GatewayError => {
  try {
    planning()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
  throw new Error('planned')
}

const REPORT: AttemptReport = { outcome: 'ok', firstTokenMs: null, tokensPerSecond: null, retryAfterSeconds: null }

/** Reports one attempt from begin to end; returns whether it was admitted. */
export const attemptOf = (health: Health, key: string, report: Partial<AttemptReport>): boolean => {
  const by = (key.split(' ')[1] ?? '').split('/')[0] ?? ''
  if (!health.begin(key, by)) return false
  health.end(key, by, { ...REPORT, ...report })
  return true
}
