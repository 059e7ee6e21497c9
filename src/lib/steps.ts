/** Work in steps: a small request runs all of them at once, and between the steps of a large one other requests get their turn. */

/** Input of fewer bytes takes no longer than one step. */
export const LARGE_BYTES = 256 * 1024

/** Each `yield` ends a step of at most a few milliseconds, whatever the input contains. */
export type Steps<Result> = Generator<undefined, Result, undefined>

export const atOnce = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Like `atOnce`, for work that may be large: it returns synchronously if no step has to wait for its turn. */
export const throughout = <Result>(steps: Steps<Result>, turn: Turn): Result | Promise<Result> => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    const waiting = turn()
    if (waiting !== undefined) return waiting.then(() => inTurns(steps, turn))
  }
}

/** Runs the steps, and awaits `turn` whenever it returns a promise. */
export const inTurns = async <Result>(steps: Steps<Result>, turn: Turn): Promise<Result> => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    const waiting = turn()
    if (waiting !== undefined) await waiting
  }
}

/** Called after each step; returns undefined if the work may go on at once. */
export type Turn = () => Promise<void> | undefined

/** The work of one step: an element counts as much as a hundred characters. */
const STEP_UNITS = 200_000
const ELEMENT_UNITS = 100

/** The size of a schema that is checked as a whole: about twenty of them fill a step. */
export const SCHEMA_UNITS = STEP_UNITS / 20

/** Like `map`, in steps. `sizeOf` is the number of characters that are copied for an element, if there are many. */
export function* mapInSteps<Given, Made>(
  given: readonly Given[],
  map: (one: Given, index: number) => Made,
  sizeOf: (one: Given) => number = noSize,
): Steps<Made[]> {
  const made: Made[] = []
  const isStep = startPace()
  for (const one of given) {
    made.push(map(one, made.length))
    if (isStep(sizeOf(one))) yield
  }
  return made
}

const noSize = (): number => 0

/** Like `mapInSteps`, but the work on each element is also done in steps. */
export function* eachInSteps<Given, Made>(
  given: readonly Given[],
  map: (one: Given, index: number) => Steps<Made>,
  sizeOf: (one: Given) => number,
): Steps<Made[]> {
  const made: Made[] = []
  const isStep = startPace()
  for (const one of given) {
    made.push(yield* map(one, made.length))
    if (isStep(sizeOf(one))) yield
  }
  return made
}

/**
 * Call it after each element: it returns true once the work since the last yield fills a step. `size` is
 * the number of characters copied for the element.
 */
export const startPace = (): ((size?: number) => boolean) => {
  let units = 0
  return (size = 0) => {
    units += ELEMENT_UNITS + size
    if (units < STEP_UNITS) return false
    units = 0
    return true
  }
}
