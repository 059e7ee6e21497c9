/** How a request was routed, for the client that asks with `X-Service-Metadata` (contract 5.8). */
import type { JsonObject } from '../lib/json.ts'
import type { Run } from './run.ts'

export const routingMetadata = (run: Run): JsonObject => {
  const succeeded = run.error === null && run.current !== undefined
  const { attempts, plan, request } = run
  return {
    requested: request.requested,
    strategy: plan.strategy,
    region: null,
    summary: summary(run, succeeded),
    attempt: attempts.length,
    is_byok: false,
    endpoints: {
      total: plan.candidates + plan.removed.length,
      available: plan.attempts.map(({ model, endpoint }) => ({
        provider: endpoint.provider.name,
        model: model.id,
        selected: succeeded && run.current?.planned.endpoint === endpoint,
      })),
    },
    attempts: attempts.map(({ planned, error }) => ({
      provider: planned.endpoint.provider.name,
      model: planned.model.id,
      status: error?.status ?? 200,
    })),
    ...(request.preset === null ? {} : { preset: { slug: request.preset.slug, version: request.preset.version } }),
    ...(run.warnings.length === 0 ? {} : { warnings: run.warnings.map((warning) => ({ ...warning })) }),
  }
}

const summary = ({ attempts, current }: Run, succeeded: boolean): string => {
  const tries = attempts.length === 1 ? 'the first attempt' : `attempt ${attempts.length}`
  const who = current === undefined ? 'no provider' : current.planned.endpoint.provider.name
  return succeeded ? `${who} answered at ${tries}.` : `No provider answered; the last one tried was ${who}.`
}
