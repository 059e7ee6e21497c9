/** Sends requests to Bedrock over a real socket, and collects everything that comes back. */
import { pulled } from '../../../test/support/frame-pulling.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { startFakeUpstream, type FakeUpstream, type Script } from '../../../test/support/fake-upstream.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import type { Prompt } from '../../canonical/prompt.ts'
import type { Warning } from '../../canonical/warning.ts'
import { GatewayError } from '../../errors.ts'
import { createUpstream } from '../transport/upstream.ts'
import { bedrock } from './bedrock.ts'
import { attemptOf, CLAUDE, promptOf, targetOf } from './encode.test-kit.ts'
import { bytesOf } from './event-stream.test-kit.ts'

export const API_KEY = 'ABSKacme-secret-key-0123456789'
const TIMEOUTS = { streamHeadersMs: 60_000, wholeHeadersMs: 600_000, idleMs: 90_000 }

interface Read {
  readonly frames: readonly Frame[]
  /** The events without a failure. */
  readonly events: readonly ModelEvent[]
  /** The error that the adapter threw. */
  readonly error: GatewayError | null
}

interface Asked {
  readonly stream?: boolean
  readonly model?: string
  readonly apiKey?: string
  readonly prompt?: Partial<Prompt>
  readonly warn?: (warning: Warning) => void
  /** Called with the events that were read so far. */
  readonly onRead?: (events: readonly ModelEvent[]) => void
}

type Ask = (script: Script, asked?: Asked) => Promise<Read>

/** Call it while the test file loads. */
export const startBedrock = async (): Promise<{ readonly upstream: FakeUpstream; readonly ask: Ask }> => {
  const upstream = await startFakeUpstream()
  return {
    upstream,
    async ask(script, { stream = true, model = CLAUDE, apiKey = API_KEY, prompt = {}, warn = () => undefined, onRead } = {}) {
      upstream.script(script)
      const clock = createFakeClock()
      const attempt = attemptOf(promptOf(prompt), warn, { stream })
      const target = { ...targetOf({ model }), baseUrl: upstream.url, apiKey }
      const frames: Frame[] = []
      let error: GatewayError | null = null
      try {
        for await (const batch of pulled((take) =>
          bedrock({ ...attempt, target }, { upstream: createUpstream(clock, TIMEOUTS), clock }, take),
        )) {
          frames.push(...batch)
          onRead?.(frames.flatMap((frame) => frame.events))
        }
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown
        error = thrown
      }
      const events = frames.flatMap((frame) => frame.events)
      return { frames, events, error }
    },
  }
}

export const STREAM_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/vnd.amazon.eventstream\r\nx-amzn-requestid: req-1\r\n'

/** `cut`: the connection ends before the announced length, once this promise has resolved. */
export const streams =
  (messages: readonly Uint8Array[], { cut }: { cut?: Promise<void> } = {}): Script =>
  async (exchange) => {
    const bytes = bytesOf(messages)
    await exchange.send(`${STREAM_HEAD}content-length: ${bytes.length + (cut === undefined ? 0 : 1)}\r\n\r\n`)
    await exchange.send(bytes)
    if (cut === undefined) return
    await cut
    exchange.end()
  }

export const answers =
  (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Script =>
  (exchange) =>
    exchange.answer(status, body, { 'content-type': 'application/json', 'x-amzn-requestid': 'req-1', ...headers })

export const START: ModelEvent = { type: 'start', upstreamId: 'req-1' }
