/** Keeps the beginning of an output, up to a limit. */
export class KeptOutput {
  readonly #most: number
  readonly #pieces: Buffer[] = []
  #length = 0

  constructor(most: number) {
    this.#most = most
  }

  add(piece: Buffer): void {
    const kept = piece.subarray(0, this.#most - this.#length)
    if (kept.length === 0) return
    this.#length += kept.length
    this.#pieces.push(kept)
  }

  /** The text, without a character that the limit cut in half. */
  get text(): string {
    const text = new TextDecoder('utf-8').decode(Buffer.concat(this.#pieces))
    return this.#length === this.#most ? text.replace(/\uFFFD$/, '') : text
  }
}
