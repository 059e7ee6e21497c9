/** Stores cached answers, sealed, until they expire or the room is needed for others. If an answer is lost, the model is asked again. */
export interface AnswerStore {
  /** Null if there is none, or if the store does not answer in time. */
  find(name: string): string | null | Promise<string | null>
  /** Replaces an answer of the same name. No request waits for it. */
  keep(name: string, sealed: string, ttlMs: number): void
  drop(name: string): void
  /** Resolves after the first attempt to reach the store, so that the first request can use it. */
  connect(): Promise<void>
  close(): void
}
