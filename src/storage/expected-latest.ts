/** The newest version that a caller expects a preset to have before changing it (docs/contract/presets.md#drafts). */
import type { ExpectedLatest } from '../contract/save-preset.ts'
import { GatewayError } from '../errors.ts'

interface Expecting {
  readonly slug: string
  readonly expectedLatest: ExpectedLatest
}

/** Throws `precondition_failed`. Must be called under the preset's lock. */
export const requireLatest = ({ slug, expectedLatest }: Expecting, latest: number): void => {
  if (expectedLatest === null || expectedLatest === latest) return
  throw new GatewayError(
    'precondition_failed',
    latest === 0
      ? `There is no preset "${slug}" yet.`
      : `The newest version of the preset "${slug}" is ${latest}, not ${expectedLatest}: somebody saved it meanwhile.`,
    { metadata: { latest_version: latest } },
  )
}
