/**
 * Requests that are ready in the same round of the event loop go through their stages together: the first of them brings the code of
 * a stage into the processor's caches, and the others find it there. One request alone runs through more code than those caches
 * hold, and waits for memory most of its time. (Larus and Parkes, "Using Cohort Scheduling to Enhance Server Performance", 2002;
 * decisions/0143.)
 */

/** More members would gain little, and the first of a cohort waits at each stage for its last. */
const MEMBERS_MAX = 16

let joining: Promise<void> | null = null
let members = 0

/** Resolves behind what this round of the event loop brings, at once for all who wait in it. */
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
 * To be awaited between two stages: the others of the cohort end the last one first. It is no turn of the event loop, so nothing
 * comes from outside meanwhile.
 */
export const nextStage: Promise<void> = Promise.resolve()
