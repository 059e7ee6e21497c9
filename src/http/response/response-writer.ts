/**
 * The body of a response that is written piece by piece, at the pace of its reader. It uses the runtime's direct
 * streams, which pass each piece to the socket at once and report when the socket is full. This is one of the few
 * files that may use the runtime directly (ARCHITECTURE.md).
 */

export interface ResponseWriter {
  readonly body: ReadableStream<Uint8Array>
  /** Returns undefined if the reader keeps up, otherwise a promise that resolves when it has caught up or is gone. */
  write(text: string): Promise<void> | undefined
  /** Writes the last text and ends the body properly. */
  end(text: string): void
  /** Breaks the connection, so that what was sent is not mistaken for the whole. */
  cut(): void
  /** True while the reader is behind. */
  readonly full: boolean
}

/** The characters that a reader may leave unread here; the socket buffers more. */
const UNREAD_MAX = 64 * 1024

/**
 * `onGone` is called once if the reader leaves before the end; `onUnread` is called with the number of characters that wait for a slow
 * reader, and with the same negative number when they no longer wait.
 */
export const openResponseWriter = (onGone: () => void, onUnread: (change: number) => void = () => undefined): ResponseWriter => {
  let controller: ReadableStreamDirectController | null = null
  /** Text written before the runtime has begun to read. */
  let early = ''
  let state: 'open' | 'ended' | 'cut' | 'gone' = 'open'
  let behind: PromiseWithResolvers<void> | null = null
  const over = Promise.withResolvers<void>()

  let unread = 0

  const caughtUp = (): void => {
    if (unread > 0) onUnread(-unread)
    unread = 0
    behind?.resolve()
    behind = null
  }

  const send = (to: ReadableStreamDirectController, text: string): void => {
    const taken = to.write(text)
    void to.flush()
    if (typeof taken === 'number') return
    unread += text.length
    onUnread(text.length)
    behind ??= Promise.withResolvers<void>()
    taken.then(caughtUp, gone)
  }

  const gone = (): void => {
    if (state === 'open') {
      state = 'gone'
      onGone()
    }
    caughtUp()
    over.resolve()
  }

  const finish = (to: ReadableStreamDirectController): void => {
    if (state === 'cut') over.reject(new DOMException('The answer broke off.', 'AbortError'))
    else {
      to.close()
      over.resolve()
    }
  }

  return {
    body: new ReadableStream<Uint8Array>({
      type: 'direct',
      pull(opened) {
        controller = opened
        caughtUp()
        if (early !== '') send(opened, early)
        early = ''
        if (state !== 'open') finish(opened)
        return over.promise
      },
      cancel: gone,
    }),
    write(text) {
      if (state !== 'open' || text === '') return undefined
      if (controller !== null) send(controller, text)
      else {
        early += text
        if (early.length > UNREAD_MAX) behind ??= Promise.withResolvers<void>()
      }
      return behind?.promise
    },
    end(text) {
      if (state !== 'open') return
      if (controller === null) early += text
      else if (text !== '') send(controller, text)
      state = 'ended'
      if (controller !== null) finish(controller)
    },
    cut() {
      if (state !== 'open') return
      state = 'cut'
      caughtUp()
      if (controller !== null) finish(controller)
    },
    get full() {
      return behind !== null
    },
  }
}
