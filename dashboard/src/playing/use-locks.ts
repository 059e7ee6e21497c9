import { useQueries, useQuery } from '@tanstack/react-query'

import { preset, presetVersion } from '../api/presets.ts'
import { currentSession } from '../api/session.ts'
import { type Lock, lockIn } from './locks.ts'

/**
 * The locks of the presets among the models, which are named such as `@preset/support-bot` or `openai/gpt@preset/support-bot@production`.
 */
export const useLocks = (models: readonly string[]): readonly Lock[] => {
  const references = [...new Set(models)].flatMap((model) => {
    const [, slug, pin] = /@preset\/([^@]+)(?:@(.+))?$/.exec(model) ?? []
    return slug === undefined ? [] : [{ slug, pin, by: `@preset/${slug}${pin === undefined ? '' : `@${pin}`}` }]
  })
  const isAdmin = useQuery(currentSession).data?.role === 'admin'
  const presets = useQueries({ queries: references.map(({ slug }) => ({ ...preset(slug), retry: false })) })
  const named = references.flatMap(({ slug, pin, by }, index) => {
    const found = presets[index]?.data
    if (found === undefined) return []
    const version = pin === undefined ? found.designated_version.version : (found.labels[pin] ?? Number(pin))
    return [{ slug, by, version, live: found.designated_version }]
  })
  // Only people who may manage presets can read versions that are not live.
  const pinned = useQueries({
    queries: named.map(({ slug, version, live }) => ({
      ...presetVersion(slug, version),
      enabled: isAdmin && version !== live.version && Number.isInteger(version),
      retry: false,
    })),
  })
  return named.flatMap(({ by, version, live }, index) => {
    const served = version === live.version ? live : pinned[index]?.data
    const lock = served === undefined ? null : lockIn(served.config, served.shape, by)
    return lock === null || lock.fields.size === 0 ? [] : [lock]
  })
}
