/** A client that closes its connection leaves the answer, also where it did so before the answer began. */
import type { Admitted } from '../inference/admitted.ts'

export const leaveWith = (signal: AbortSignal, { connection }: Pick<Admitted, 'connection'>): (() => void) => {
  const leave = (): void => connection.leave()
  signal.addEventListener('abort', leave, { once: true })
  // An abort that is over is not told again.
  if (signal.aborted) leave()
  return leave
}
