import type { Steps } from '../lib/steps.ts'

/** The text in one piece, and an empty one for each step before it. */
export function* writtenInSteps(steps: Steps<string>): Generator<string, void, undefined> {
  for (let step = steps.next(); ; step = steps.next()) {
    yield step.value ?? ''
    if (step.done === true) return
  }
}
