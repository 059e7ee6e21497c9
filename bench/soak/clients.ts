/** The clients of a long day, most of them well-behaved. Each kind resolves when its request is over, with how it ended. */
import { connect } from 'node:net'

export interface Service {
  readonly url: string
  /** The key has a limit, so each request holds some of it. */
  readonly key: string
}

export type Ending = 'answered' | 'refused' | 'failed' | 'left'

type Client = (service: Service, random: () => number) => Promise<Ending>

const PATHS = ['chat/completions', 'responses', 'messages'] as const

const bodyOf = (path: string, model: string, stream: boolean, more: object = {}): string => {
  const question = [{ role: 'user', content: 'Tell me of foxes and dogs.' }]
  const asked = path === 'responses' ? { input: question } : { messages: question }
  return JSON.stringify({ model, stream, ...asked, ...(path === 'messages' ? { max_tokens: 200 } : {}), ...more })
}

const pick = <Item>(items: readonly [Item, ...Item[]], random: () => number): Item => items[Math.floor(random() * items.length)] ?? items[0]

const post = (service: Service, path: string, body: string, signal: AbortSignal | null = null): Promise<Response> =>
  fetch(`${service.url}/api/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    body,
    signal,
  })

const read = async (answer: Response, isFine: (text: string) => boolean): Promise<Ending> => {
  const text = await answer.text()
  if (answer.status !== 200) return 'refused'
  return isFine(text) ? 'answered' : 'failed'
}

/** A successful Responses body contains `"error": null`. */
const FAILED = /"error":\s*\{|event: error/

const streams = (model: string, share: number): readonly [number, Client] => [
  share,
  async (service, random) => {
    const path = pick(PATHS, random)
    return read(await post(service, path, bodyOf(path, model, true)), (text) => text.trimEnd().endsWith('[DONE]') && !FAILED.test(text))
  },
]

/** Disconnects, half of the time after the first bytes, else before. */
const leaves: Client = async (service, random) => {
  const path = pick(PATHS, random)
  const controller = new AbortController()
  const isEarly = random() < 0.5
  if (isEarly) setTimeout(() => controller.abort(), random() * 30)
  try {
    const answer = await post(service, path, bodyOf(path, 'soak/fine', random() < 0.8), controller.signal)
    await answer.body?.getReader().read()
    controller.abort()
  } catch (thrown) {
    if (!controller.signal.aborted) throw thrown
  }
  return 'left'
}

/** Reads 4 KiB at a time with pauses, so that the service has to wait. */
const readsSlowly: Client = (service, random) => {
  const body = bodyOf('chat/completions', 'soak/long', true)
  const { hostname, port } = new URL(service.url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let tail = ''
    socket.once('error', () => resolve('failed'))
    socket.once('close', () => resolve(tail.includes('[DONE]') ? 'answered' : 'left'))
    socket.on('data', (bytes: Buffer) => {
      tail = (tail + bytes.toString('latin1')).slice(-400)
      if (tail.includes('[DONE]')) return void socket.end()
      socket.pause()
      setTimeout(() => socket.resume(), 5 + random() * 20)
    })
    socket.write(
      `POST /api/v1/chat/completions HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Bearer ${service.key}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  })
}

const asksWhole: Client = async (service, random) => {
  const path = pick(PATHS, random)
  return read(await post(service, path, bodyOf(path, 'soak/fine', false)), (text) => text.includes('quick brown fox'))
}

const FAULTY = ['cut', 'reset', 'garbage', 'unavailable', 'limited', 'closed'] as const

const meetsFault: Client = async (service, random) => {
  const path = pick(PATHS, random)
  const answer = await post(service, path, bodyOf(path, `soak/${pick(FAULTY, random)}`, true))
  return read(answer, (text) => text.includes('error'))
}

/** Half of them with a second provider, which answers if the first one fails. */
const isSaved: Client = async (service, random) => {
  const path = pick(PATHS, random)
  return read(await post(service, path, bodyOf(path, 'soak/saved', true)), (text) => text.includes('quick brown fox'))
}

const SCRIPT = [{ call: { name: 'service:datetime' } }, { call: { name: 'service:datetime' } }, { text: 'Done.' }]

const loops: Client = async (service, random) => {
  const body = bodyOf('chat/completions', 'sandbox/agent', random() < 0.5, {
    sandbox: { script: SCRIPT },
    tools: [{ type: 'service:datetime' }],
  })
  return read(await post(service, 'chat/completions', body), (text) => text.includes('Done.'))
}

const SEARCHES = Array.from({ length: 5 }, (_, step) => ({ call: { name: 'service:web_search', arguments: { query: `step ${step}` } } }))

/** Five steps of a slow tool. */
export const slowLoop: Client = async (service, random) => {
  const path = pick(PATHS, random)
  const body = bodyOf(path, 'sandbox/agent', random() < 0.5, {
    sandbox: { script: [...SEARCHES, { text: 'Done.' }] },
    tools: [{ type: 'service:web_search' }],
  })
  return read(await post(service, path, body), (text) => text.includes('Done.'))
}

/** Each with its share of the requests. */
const CLIENTS: Readonly<Record<string, readonly [number, Client]>> = {
  streams: streams('soak/fine', 0.4),
  'asks for a whole answer': [0.15, asksWhole],
  leaves: [0.1, leaves],
  'reads slowly': [0.05, readsSlowly],
  'meets a fault': [0.15, meetsFault],
  'is saved by a spare': [0.05, isSaved],
  'runs a loop of tools': [0.1, loops],
}

/** Sends one request of a random kind. Resolves with its kind and how it ended. */
export const request = async (service: Service, random: () => number): Promise<readonly [kind: string, ending: Ending]> => {
  let left = random()
  for (const [kind, [share, client]] of Object.entries(CLIENTS)) {
    left -= share
    if (left > 0) continue
    try {
      return [kind, await client(service, random)]
    } catch {
      return [kind, 'failed']
    }
  }
  return ['streams', await CLIENTS['streams']![1](service, random)]
}
