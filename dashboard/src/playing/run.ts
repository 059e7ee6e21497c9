/** One request of the playground, from its start to its end. */
import { askRaw } from '../api/client.ts'
import { readEvents } from '../api/read-events.ts'
import { messageOf } from '../parts/error-note.tsx'
import { type Asked, INFERENCE_PATHS, requestBody } from './conversation-input.ts'
import { type Answer, createStreamReader, NO_ANSWER, readWhole } from './read-answer.ts'

/** A request, and the title of its answer, which stays when the field that it came from changes. */
export interface Titled {
  readonly title: string
  readonly asked: Asked
}

export interface Run extends Titled {
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  readonly answer: Answer
  readonly firstMs: number | null
  readonly totalMs: number | null
  readonly generationId: string | null
  /** The version of the preset that served the request. */
  readonly preset: string | null
  /** The number of warnings; the record has their texts. */
  readonly warnings: number
  readonly fault: string | null
}

const STARTED: Omit<Run, keyof Titled> = {
  state: 'running',
  answer: NO_ANSWER,
  firstMs: null,
  totalMs: null,
  generationId: null,
  preset: null,
  warnings: 0,
  fault: null,
}

/** `show` is called at most once a frame. Aborting the signal stops the request at the provider, too. */
export const runRequest = async ({ title, asked }: Titled, signal: AbortSignal, show: (run: Run) => void): Promise<void> => {
  const startedAt = performance.now()
  const sinceStart = (): number => Math.round(performance.now() - startedAt)
  let run: Run = { title, asked, ...STARTED }
  let drawn = 0
  const update = (more: Partial<Run>): void => {
    run = { ...run, ...more }
    drawn ||= requestAnimationFrame(() => {
      drawn = 0
      show(run)
    })
  }
  update({})
  try {
    const response = await askRaw(INFERENCE_PATHS[asked.interface], { method: 'POST', body: requestBody(asked), signal })
    update({
      generationId: response.headers.get('x-generation-id'),
      preset: response.headers.get('x-preset'),
      warnings: Number(response.headers.get('x-service-warnings') ?? 0),
    })
    if (response.headers.get('content-type')?.includes('event-stream') === true) {
      const read = createStreamReader(asked.interface)
      for await (const { data } of readEvents(response)) {
        const answer = read(data)
        const hasBegun = answer.text !== '' || answer.reasoning !== '' || answer.calls.length > 0
        update({ answer, firstMs: run.firstMs ?? (hasBegun ? sinceStart() : null) })
      }
    } else update({ answer: readWhole(asked.interface, await response.json()), firstMs: sinceStart() })
    update({ state: run.answer.fault === null ? 'done' : 'failed', totalMs: sinceStart(), fault: run.answer.fault })
  } catch (thrown) {
    update(
      signal.aborted ? { state: 'stopped', totalMs: sinceStart() } : { state: 'failed', totalMs: sinceStart(), fault: messageOf(thrown) },
    )
  }
}
