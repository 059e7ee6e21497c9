import type { Translation } from '../losses/translation.ts'

/** The cache marks of a request that this provider does not take. */
export interface LostMarks {
  /** `at`: the place of the mark in the request. */
  lose(at: string): void
  any(): boolean
}

/** Only one warning for all marks of a request: they are many, and this provider caches without them. */
export const lostMarks = ({ lose }: Translation): LostMarks => {
  let reported = false
  return {
    lose(at) {
      if (!reported) lose(at, 'This provider caches prompts by itself; the marks for its cache were left out.')
      reported = true
    },
    any: () => reported,
  }
}
