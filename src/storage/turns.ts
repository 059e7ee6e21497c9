/** First come, first served: who took the turn has it until they pass it. */
export interface Turns {
  take(): Promise<void>
  pass(): void
  /** Takes the turn, runs, and passes it, whatever comes of it. */
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
    // With somebody waiting the turn stays taken, or a newcomer could slip in before they wake up.
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
