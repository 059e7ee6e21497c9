/** A stream that a person opened ends with the person's session. */
import type { Sessions } from '../sign-in/sessions.ts'

export const endWithSession = (response: Response, sessionId: string, sessions: Pick<Sessions, 'watch'>): Response => {
  const { body } = response
  if (body === null || response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return response
  const watch = sessions.watch(sessionId)
  const reader = body.getReader()
  const watched = new ReadableStream<Uint8Array>({
    start(controller) {
      watch.signal.addEventListener('abort', () => {
        watch.stop()
        // The writer of the stream learns that nobody reads it any more, as when the client leaves; one that broke off knows.
        reader.cancel().catch(() => undefined)
        controller.error(new DOMException('The session has ended.', 'AbortError'))
      })
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (watch.signal.aborted) return
        if (!done) return controller.enqueue(value)
        controller.close()
      } catch (brokenOff) {
        if (!watch.signal.aborted) controller.error(brokenOff)
      }
      watch.stop()
    },
    async cancel(reason) {
      watch.stop()
      await reader.cancel(reason)
    },
  })
  return new Response(watched, response)
}
