/**
 * Detects when the pieces of a tool call's arguments add up to one whole JSON object or array. It counts brackets outside of strings and
 * looks at each character once. It does not check that the text is valid JSON.
 */
export class ArgumentsScan {
  #depth = 0
  #begun = false
  #inString = false
  #escaped = false

  get complete(): boolean {
    return this.#begun && this.#depth === 0
  }

  /** An object or an array is open. */
  get isInside(): boolean {
    return this.#depth > 0
  }

  push(piece: string): void {
    for (let at = 0; at < piece.length; at += 1) {
      if (this.#inString) this.#insideString(piece.charCodeAt(at))
      else this.#outside(piece.charCodeAt(at))
    }
  }

  #insideString(code: number): void {
    if (this.#escaped) this.#escaped = false
    else if (code === BACKSLASH) this.#escaped = true
    else if (code === QUOTE) this.#inString = false
  }

  #outside(code: number): void {
    if (code === QUOTE) this.#inString = true
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      this.#begun = true
      this.#depth += 1
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) this.#depth -= 1
  }
}

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
