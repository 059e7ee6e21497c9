/** Reads the server-sent events of a response. An `EventSource` could not send the session's second half. */
import { ApiError } from './api-error.ts'

export interface ServerEvent {
  readonly event: string
  readonly data: string
}

export async function* readEvents(response: Response): AsyncGenerator<ServerEvent> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) return
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(asLost)
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

/** The browser rejects a read with a TypeError unless it was aborted. */
const asLost = (thrown: unknown): never => {
  if (!(thrown instanceof TypeError)) throw thrown
  throw new ApiError('The connection to the service was lost before the end.', { status: 0 })
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
