/**
 * How many times as much work four times as much input makes: about four where time is linear, sixteen where it is
 * quadratic. It counts the time of the processor, so other programs on the machine do not matter.
 */
export const growth = (workOn: (size: number) => () => void, size: number): number => {
  const [little, much] = [workOn(size), workOn(4 * size)]
  // Code that runs for the first time is not compiled yet.
  costOf(much)
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS && least >= LINEAR; round += 1) {
    least = Math.min(least, costOf(much) / Math.max(costOf(little), FLOOR))
  }
  return least
}

/** Collected garbage and compiled code count as work too, once or twice: time that is not linear is so each time. */
const ROUNDS = 5

/** Less than this is shorter than the steps in which the system counts. In microseconds, as `cpuUsage` has it. */
const FLOOR = 12_000
const RUNS = 3

const costOf = (work: () => void): number => {
  const before = process.cpuUsage().user
  for (let run = 0; run < RUNS; run += 1) work()
  return process.cpuUsage().user - before
}

/** Chance included. */
export const LINEAR = 10
