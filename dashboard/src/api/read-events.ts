/** Reads the server-sent events of a response. An `EventSource` could not send the session's second half. */
import { asLost, lost } from './api-error.ts'

export interface ServerEvent {
  readonly event: string
  readonly data: string
}

/** `silenceMs`: the stream is lost if nothing comes for this long, although the service sends something more often. */
export async function* readEvents(response: Response, silenceMs: number | null = null): AsyncGenerator<ServerEvent> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) return
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await inTime(reader.read().catch(asLost), silenceMs)
      if (done) return
      const blocks = (rest + value).replaceAll('\r\n', '\n').split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const read = readBlock(block)
        if (read.data !== '') yield read
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

const inTime = async <Value>(read: Promise<Value>, ms: number | null): Promise<Value> => {
  if (ms === null) return read
  const { promise: silence, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(lost()), ms)
  return Promise.race([read, silence]).finally(() => clearTimeout(timer))
}

const readBlock = (block: string): ServerEvent => {
  let event = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) event = line.slice(6).trim()
    else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
  }
  return { event, data: data.join('\n') }
}
