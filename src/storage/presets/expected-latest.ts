/** The newest version that a caller expects a preset to have before changing it (docs/contract/presets.md#drafts). */
import type { ExpectedLatest } from '../../contract/save-preset.ts'
import { GatewayError } from '../../errors.ts'

interface Expecting {
  readonly slug: string
  /** Null, as when it is left out, accepts any. */
  readonly expectedLatest?: ExpectedLatest
}

/** Throws `precondition_failed`. Must be called under the preset's lock. */
export const requireLatest = ({ slug, expectedLatest = null }: Expecting, latest: number): void => {
  if (expectedLatest === null || expectedLatest === latest) return
  throw new GatewayError('precondition_failed', sentenceOf({ slug, expectedLatest }, latest), { metadata: { latest_version: latest } })
}

const sentenceOf = ({ slug, expectedLatest }: Required<Expecting>, latest: number): string => {
  if (latest === 0) return `There is no preset "${slug}" yet. Send If-Match: "0" to make it, or leave the condition out.`
  const newest = `The newest version of the preset "${slug}" is ${latest}`
  if (expectedLatest === 0) return `There is such a preset already. ${newest}.`
  return `${newest}, not ${expectedLatest}. Read it, make your change from it, and send its number.`
}
