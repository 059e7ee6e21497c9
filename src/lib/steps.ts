/** Work that gives way between its steps: a small request takes all of them at once, and behind a large one others get their turn. */

/** Less input than this, in bytes, takes no longer than a step does. */
export const LARGE_BYTES = 256 * 1024

/** Each `yield` ends a step of a few milliseconds at the most, whatever the input holds. */
export type Steps<Result> = Generator<undefined, Result, undefined>

export const atOnce = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** The same for work that may be large: where no step has to wait for its turn, it ends at once. */
export const throughout = <Result>(steps: Steps<Result>, turn: Turn): Result | Promise<Result> => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    const waiting = turn()
    if (waiting !== undefined) return waiting.then(() => inTurns(steps, turn))
  }
}

/** The same steps, with `turn` awaited where it wants to be. */
export const inTurns = async <Result>(steps: Steps<Result>, turn: Turn): Promise<Result> => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    const waiting = turn()
    if (waiting !== undefined) await waiting
  }
}

/** Called behind each step; undefined where the work may go on. */
export type Turn = () => Promise<void> | undefined

/** The work of one step: an element counts as much as a hundred characters. */
const STEP_UNITS = 200_000
const ELEMENT_UNITS = 100

/** A size of a schema that is looked at as a whole: some twenty of them make up a step. */
export const SCHEMA_UNITS = STEP_UNITS / 20

/** As `map`. `sizeOf`: the characters that are copied for an element, where they are many. */
export function* mapInSteps<Given, Made>(
  given: readonly Given[],
  map: (one: Given, index: number) => Made,
  sizeOf: (one: Given) => number = () => 0,
): Steps<Made[]> {
  const made: Made[] = []
  const isStep = startPace()
  for (const [index, one] of given.entries()) {
    made.push(map(one, index))
    if (isStep(sizeOf(one))) yield
  }
  return made
}

/** As `mapInSteps`, where the work on an element is cut too. */
export function* eachInSteps<Given, Made>(
  given: readonly Given[],
  map: (one: Given) => Steps<Made>,
  sizeOf: (one: Given) => number,
): Steps<Made[]> {
  const made: Made[] = []
  const isStep = startPace()
  for (const one of given) {
    made.push(yield* map(one))
    if (isStep(sizeOf(one))) yield
  }
  return made
}

/** To be asked behind each element: whether the work since the last step makes up another. `size`: as above. */
export const startPace = (): ((size?: number) => boolean) => {
  let units = 0
  return (size = 0) => {
    units += ELEMENT_UNITS + size
    if (units < STEP_UNITS) return false
    units = 0
    return true
  }
}
