/** Ends a stream that a person opened when the person's session ends. */
import type { Sessions } from '../../sign-in/sessions.ts'

export const endWithSession = (response: Response, sessionId: string, sessions: Pick<Sessions, 'watch'>): Response => {
  const { body } = response
  if (body === null || response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return response
  const watch = sessions.watch(sessionId)
  const reader = body.getReader()
  const watched = new ReadableStream<Uint8Array>({
    start(controller) {
      watch.signal.addEventListener('abort', () => {
        watch.stop()
        // The stream's writer learns that nobody reads it any more, as if the client had left; a
        // stream that has broken off already knows.
        reader.cancel().catch(() => undefined)
        controller.error(new DOMException('The session has ended.', 'AbortError'))
      })
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        controller.close()
      } catch (brokenOff) {
        controller.error(brokenOff)
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
