/** Run it in a process of its own with a low limit of open files: it prints, as JSON, how requests fail once no file is left. */
import { openSync, writeSync } from 'node:fs'

import { GatewayError } from '../../errors.ts'
import { systemClock } from '../../lib/clock.ts'
import { isConnectionLack } from './own-limits.ts'
import { createSafeFetch } from './safe-fetch.ts'
import { createUpstream } from './upstream.ts'

const upstream = createUpstream(systemClock, { streamHeadersMs: 5000, wholeHeadersMs: 5000, idleMs: 5000 })
const get = createSafeFetch({ clock: systemClock, trustedHosts: ['localhost'], trustedBy: null })

const post = (url: string) => upstream.post({ url, headers: {}, body: '{}', stream: false, connection: new AbortController() })
const load = (url: string) => get({ url, headers: {}, body: null, timeoutMs: 5000, maxBytes: 10 })

const reported = async (asking: () => Promise<unknown>): Promise<object> => {
  try {
    await asking()
    return { failed: false }
  } catch (thrown) {
    return thrown instanceof GatewayError
      ? { type: thrown.type, retry: thrown.retryAfterSeconds ?? null, isLack: isConnectionLack(thrown) }
      : { type: (thrown as Error).name }
  }
}

/** These run once while files are left, so that modules that are loaded on first use are loaded then. */
const asked = [
  () => post('http://127.0.0.1:9/'),
  () => post('http://localhost:9/'),
  () => post('http://some.name.invalid/'),
  () => load('http://localhost:9/'),
]
const before: object[] = []
for (const ask of asked) before.push(await reported(ask))
try {
  for (;;) openSync('/dev/null', 'r')
} catch {
  const after: object[] = []
  for (const ask of asked) after.push(await reported(ask))
  writeSync(1, JSON.stringify({ before, after }))
  process.exit(0)
}
