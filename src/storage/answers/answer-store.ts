/** Where kept answers lie, sealed, until their time is over or others need the room. What is lost of them is asked for again. */
export interface AnswerStore {
  /** Null: there is none, or the store does not answer in time. */
  find(name: string): string | null | Promise<string | null>
  /** Replaces what has this name. No request waits for it. */
  keep(name: string, sealed: string, ttlMs: number): void
  drop(name: string): void
  /** Resolves when the store was tried once, so that the first request finds it. */
  connect(): Promise<void>
  close(): void
}
