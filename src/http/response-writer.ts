/**
 * The body of a response that is written piece by piece, at the pace of its reader. It uses the runtime's direct streams,
 * which hand each piece to the socket at once and report when the socket is full: one of the few files that may touch the
 * runtime (ARCHITECTURE.md).
 */

export interface ResponseWriter {
  readonly body: ReadableStream<Uint8Array>
  /** Undefined where the reader keeps up; else a promise that resolves when it has caught up, or is gone. */
  write(text: string): Promise<void> | undefined
  /** Writes the last of it and ends well. */
  end(text: string): void
  /** Breaks the connection, so that what came is not mistaken for the whole. */
  cut(): void
  /** The reader is behind. */
  readonly full: boolean
}

/** The characters that a reader may leave unread here; a socket has room for more. */
const UNREAD_MAX = 64 * 1024

/**
 * `onGone` is called once, where the reader leaves before the end; `onUnread` with the characters that wait for a reader who is
 * behind, and with as many less when they do not any more.
 */
export const openResponseWriter = (onGone: () => void, onUnread: (change: number) => void = () => undefined): ResponseWriter => {
  let controller: ReadableStreamDirectController | null = null
  /** Written before the runtime has begun to read. */
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
