/**
 * Requests that are ready in the same round of the event loop go through their stages together: the first of them brings the code of
 * a stage into the processor's caches, and the others find it there. One request alone runs through more code than those caches
 * hold, and waits for memory most of its time. (Larus and Parkes, "Using Cohort Scheduling to Enhance Server Performance", 2002;
 * decisions/0143.)
 */

/** More members would gain little, and the first member of a cohort waits at each stage for the last. */
const MEMBERS_MAX = 16

let joining: Promise<void> | null = null
let members = 0

/** Resolves after the other events of this round of the event loop, at the same time for all that wait in it. */
export const joinCohort = (): Promise<void> => {
  if (joining === null || members === MEMBERS_MAX) {
    members = 0
    const cohort = new Promise<void>((begin) => {
      setImmediate(() => {
        if (joining === cohort) joining = null
        begin()
      })
    })
    joining = cohort
  }
  members += 1
  return joining
}

/**
 * Await it between two stages, so that the others of the cohort finish the previous stage first. It only yields to microtasks and
 * is not a turn of the event loop, so no I/O comes in meanwhile.
 */
export const nextStage: Promise<void> = Promise.resolve()
