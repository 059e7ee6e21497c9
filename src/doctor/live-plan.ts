/** Chooses whom a live check asks, with a bound on its cost: one model of each family of each provider, the cheap questions first. */
import type { Call } from '../canonical/call.ts'
import { chatFormat } from '../formats/openai-chat/openai-chat.ts'
import { estimateOf } from '../ledger/estimate.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import { atOnce } from '../lib/steps.ts'
import type { Models } from '../models/models.ts'
import { beyond, PROBES, probeBody, type ProbeName } from './probe-bodies.ts'
import type { Model, ModelEndpoint } from '../models/model.ts'
import type { ProviderDialect } from '../canonical/provider-dialects.ts'

export interface Question {
  readonly model: Model
  readonly endpoint: ModelEndpoint
  readonly dialect: ProviderDialect
  readonly probe: ProbeName
  readonly call: Call
  /** Nano-dollars, at most. */
  readonly mostNanos: number
  /** Why it is not asked; null if it is asked. */
  readonly passedOver: string | null
}

/** Why a question is not asked that the bound on the cost leaves no room for. */
export const TOO_DEAR = 'beyond the cost bound'

/** An unpriced model counts as expensive, so that the stated bound holds. */
const ESTIMATES = { maxOutputTokens: 1100, assumedPrices: { prompt: 30, completion: 150 } }

/** `only` are ids of models; if it is empty, one model of each family is asked. The total cost stays within `boundNanos`. */
export const planLive = (models: Models, only: readonly string[], boundNanos: number): Question[] => {
  const chosen = chosenEndpoints(models, only)
  const questions = PROBES.flatMap((probe) =>
    chosen
      .flatMap(({ model, endpoint }) => endpoint.provider.dialects.map((dialect) => questionOf(model, endpoint, dialect, probe)))
      .toSorted((a, b) => a.mostNanos - b.mostNanos),
  )
  let spentNanos = 0
  return questions.map((question) => {
    if (question.passedOver !== null) return question
    if (spentNanos + question.mostNanos > boundNanos) return { ...question, passedOver: TOO_DEAR }
    spentNanos += question.mostNanos
    return question
  })
}

const questionOf = (model: Model, endpoint: ModelEndpoint, dialect: ProviderDialect, probe: ProbeName): Question => {
  const { call } = atOnce(chatFormat.parseCall(JsonBody.read(JSON.stringify(probeBody(probe, model.id)))))
  const { mostNanos } = atOnce(estimateOf({ call, apiType: 'completions' }, [{ model, endpoint }], ESTIMATES))
  return { model, endpoint, dialect, probe, call, mostNanos, passedOver: beyond(probe, model) }
}

interface Chosen {
  readonly model: Model
  readonly endpoint: ModelEndpoint
}

/** The newest model of each provider and family that writes text: our rules are made by family, and a new model is what breaks them. */
const chosenEndpoints = (models: Models, only: readonly string[]): readonly Chosen[] => {
  const all = models
    .list()
    .flatMap((model) => model.endpoints.map((endpoint): Chosen => ({ model, endpoint })))
    .filter(({ endpoint }) => !endpoint.provider.dialects.includes('sandbox') && endpoint.serviceTier === null)
  if (only.length > 0) return all.filter(({ model }) => only.includes(model.id))
  const newest = new Map<string, Chosen>()
  for (const chosen of all.filter(({ model }) => model.outputModalities.includes('text'))) {
    const name = `${chosen.endpoint.provider.slug} ${familyOf(chosen.endpoint.upstreamModel)}`
    const known = newest.get(name)
    if (known === undefined || chosen.model.created > known.model.created) newest.set(name, chosen)
  }
  return [...newest.values()]
}

/** The family in a model's name, without version and date: `claude-opus`, `gpt-mini`, `o-mini`, `gemini-flash-lite`. */
export const familyOf = (upstreamModel: string): string =>
  upstreamModel
    .toLowerCase()
    .replace(/^.*\//, '')
    .split(/[-._:@]/)
    .map((word) => word.replace(/\d+[a-z]?$/, ''))
    .filter((word) => word !== '' && word !== 'latest' && word !== 'preview' && word !== 'v')
    .join('-')
