import type { Steps } from '../lib/steps.ts'

/** Yields the text in one piece, preceded by an empty text for each step. */
export function* writtenInSteps(steps: Steps<string>): Generator<string, void, undefined> {
  for (let step = steps.next(); ; step = steps.next()) {
    yield step.value ?? ''
    if (step.done === true) return
  }
}
