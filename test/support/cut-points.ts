/** The point up to which a recorded stream may be cut and is still incomplete. */
import { type Recording, streamBytes } from './recordings.ts'

/** The event that says how the answer ended; from its last byte on the answer is complete. */
const isTerminal = ({ dialect }: Recording, payload: string): boolean => {
  switch (dialect) {
    case 'openai-chat':
      return /"finish_reason":"/.test(payload)
    case 'openai-responses':
      return /^\{"type":"response\.(?:completed|incomplete)"/.test(payload)
    case 'anthropic':
      return /"stop_reason":"/.test(payload)
    case 'bedrock':
      return payload.startsWith('{"messageStop"')
    case 'google':
      return payload.includes('"finishReason"')
  }
}

/** The number of bytes up to the model's end; the blank line after that event is not needed. */
export const bytesUntilEnd = (recording: Recording): number => {
  const { dialect, payloads, bytes } = recording
  const last = payloads.findIndex((payload) => isTerminal(recording, payload))
  if (last < 0) return bytes.length
  const begun = streamBytes(dialect, payloads.slice(0, last + 1), true)
  return dialect === 'bedrock' ? begun.length : Buffer.byteLength(new TextDecoder().decode(begun).trimEnd())
}
