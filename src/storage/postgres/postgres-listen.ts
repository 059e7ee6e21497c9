/** Learns of changes by other processes at once, on a connection of its own. Behind a pooler without LISTEN, nothing is received. */
import type { Client } from 'pg'

import type { Clock } from '../../lib/clock.ts'
import type { ChangeListener } from '../database.ts'

const CHANNEL = 'patchbay_changes'
const RETRY_MS = 1000

/**
 * Calls `heard` for each change and when it begins to listen, and `missed` when it begins again, perhaps on another server. It reports no
 * faults: the code that polls the database reports them.
 */
export const listenForChanges = (clock: Clock, connect: () => Promise<Client>, { heard, missed }: ChangeListener): (() => void) => {
  let stopped = false
  let began = heard
  let client: Client | null = null
  let cancel = (): void => undefined

  const retry = (): void => {
    client = null
    if (!stopped) cancel = clock.after(RETRY_MS, () => void open())
  }

  const open = async (): Promise<void> => {
    try {
      const opened = await connect()
      client = opened
      opened.once('end', retry)
      opened.on('notification', heard)
      if (stopped) {
        await opened.end()
        return
      }
      await opened.query(`listen ${CHANNEL}`)
      began()
      began = missed
    } catch {
      // A connection that was opened retries when it ends; one that was not opened is retried at once.
      if (client === null) retry()
      else client.end().catch(retry)
    }
  }

  void open()
  return () => {
    stopped = true
    cancel()
    client?.end().catch(() => undefined)
  }
}
