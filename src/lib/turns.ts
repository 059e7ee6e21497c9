/** First come, first served: whoever takes the turn has it until they pass it on. */
export interface Turns {
  take(): Promise<void>
  pass(): void
  /** Takes the turn, runs `work`, and passes the turn on, even if `work` fails. */
  run<T>(work: () => Promise<T>): Promise<T>
}

export const createTurns = (): Turns => {
  const waiting: (() => void)[] = []
  let taken = false

  const take = async (): Promise<void> => {
    if (taken) await new Promise<void>((resolve) => waiting.push(resolve))
    taken = true
  }

  const pass = (): void => {
    const next = waiting.shift()
    // If somebody is waiting, the turn stays taken; otherwise a newcomer could slip in before they wake up.
    if (next === undefined) taken = false
    else next()
  }

  return {
    take,
    pass,
    async run(work) {
      await take()
      try {
        return await work()
      } finally {
        pass()
      }
    },
  }
}
