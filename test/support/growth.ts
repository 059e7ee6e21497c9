/**
 * The ratio of work when the input is four times as large: about four if time is linear, sixteen if it is quadratic. It counts processor
 * time, so other programs on the machine do not matter.
 */
export const growth = (workOn: (size: number) => () => void, size: number): number => {
  const [little, much] = [workOn(size), workOn(4 * size)]
  // Warms up, since code is not compiled when it runs for the first time.
  costOf(much)
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS && least >= LINEAR; round += 1) {
    least = Math.min(least, costOf(much) / Math.max(costOf(little), FLOOR))
  }
  return least
}

/** Garbage collection and compilation count as work too, but only now and then; work that is not linear is so in every round. */
const ROUNDS = 5

/** Anything shorter is below the resolution of the system's clock. In microseconds, as `cpuUsage` counts. */
const FLOOR = 12_000
const RUNS = 3

const costOf = (work: () => void): number => {
  const before = process.cpuUsage().user
  for (let run = 0; run < RUNS; run += 1) work()
  return process.cpuUsage().user - before
}

/** The largest ratio that still counts as linear, with a margin for noise. */
export const LINEAR = 10
