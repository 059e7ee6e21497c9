/** A client that closes its connection leaves the answer, even if it did so before the answer began. */
import type { Admitted } from '../../inference/admitted.ts'

export const leaveWith = (signal: AbortSignal, { connection }: Pick<Admitted, 'connection'>): (() => void) => {
  const leave = (): void => connection.leave()
  signal.addEventListener('abort', leave, { once: true })
  // The event of an earlier abort does not fire again.
  if (signal.aborted) leave()
  return leave
}
